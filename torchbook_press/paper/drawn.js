// Whether every plot is drawn.
() =>
  [...document.querySelectorAll("figure.viz-mount[data-kind=plotly][data-drawing]")].every(
    (figure) => !figure.clientWidth || figure.dataset.ready,
  )
