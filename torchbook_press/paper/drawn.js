// Whether every plot is drawn that does not stand there as a drawing.
() =>
  [...document.querySelectorAll("figure.viz-mount[data-kind=plotly][data-drawing]:not(:has(> .plot))")].every(
    (figure) => !figure.clientWidth || figure.dataset.ready,
  )
