exports.greeting = "hello";
