"""The mailer."""
