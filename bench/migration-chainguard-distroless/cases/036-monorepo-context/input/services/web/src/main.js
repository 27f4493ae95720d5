console.log("in the browser");
