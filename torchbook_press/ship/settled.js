// Waits until all that is near has been drawn, and gives what `observe.js` saw.
async () => {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  const near = (figure) => {
    const box = figure.getBoundingClientRect();
    return box.width > 0 && box.top < innerHeight && box.bottom > 0;
  };
  const waiting = (figure) => near(figure) && !figure.dataset.ready && !figure.querySelector(".viz-problem");
  while ([...document.querySelectorAll(".viz-mount")].some(waiting)) await new Promise(requestAnimationFrame);
  // With a limit: this wait, or that for the fonts, was once seen not to end.
  for (let turn = 0; turn < 3; turn++) await new Promise((done) => requestIdleCallback(done, { timeout: 2000 }));
  return speed;
}
