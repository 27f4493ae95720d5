var app = WebApplication.Create(args);
app.MapGet("/", () => "ok");
app.Run();
