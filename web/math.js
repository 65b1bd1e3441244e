// Sets formulas a few at a time, so that the page answers its reader meanwhile. MathJax finds this in its configuration.
(() => {
  const AT_ONCE = 6;
  const turn = () => new Promise((done) => setTimeout(done));

  async function pageReady() {
    const formulas = [...document.querySelectorAll(".math")];
    while (formulas.length) {
      await MathJax.typesetPromise(formulas.splice(0, AT_ONCE));
      await turn();
    }
  }

  window.MathJax = { ...window.MathJax, startup: { ...window.MathJax?.startup, pageReady } };
})();
