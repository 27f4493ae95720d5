package version

const Name = "relay"
