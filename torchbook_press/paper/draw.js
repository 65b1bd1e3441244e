// Formulas, then every plot: a page draws them for paper when it is about to be printed.
async () => {
  await window.MathJax?.startup?.promise;
  dispatchEvent(new Event("beforeprint"));
  await document.fonts.ready;
}
