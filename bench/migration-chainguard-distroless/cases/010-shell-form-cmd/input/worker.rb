puts "working on #{ARGV.last}"
