// Shows the API's own document, from this server alone.
const docs = document.getElementById("docs");

window.SwaggerUIBundle({
  domNode: docs,
  url: docs.dataset.document,
  deepLinking: true,
  // No badge of a service elsewhere.
  validatorUrl: null,
});
