/** Style of the tokens: each has a border, and is the darker the earlier its merge was learned; a byte is dashed. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.tk{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .tk-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .tk-small{font-size:max(12px,.84em);color:var(--tb-muted);margin:0}
.tbviz .tk-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.tk-text{flex:1 1 16rem}
.tk-text label{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.tbviz .tk-text textarea{font:1em/1.4 ${MONO};width:100%;height:3.6rem;resize:none;color:var(--tb-fg);background:var(--tb-bg);border:1px solid var(--tb-edge);border-radius:6px;padding:.35rem .55rem;margin:0}
.tk-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.tbviz .tk-said{min-height:1.45em}
@container (max-width:520px){.tbviz .tk-said{min-height:2.9em}}
.tk-main{display:flex;flex-direction:column;gap:.5rem;height:330px}
.tbviz .tk-key{display:flex;flex-wrap:wrap;gap:.1rem .9rem;font-size:max(12px,.86em);color:var(--tb-muted);font-variant-numeric:tabular-nums}
.tk-key>:first-child{color:var(--tb-fg);flex:1 0 auto}
.tk-swatch{display:inline-block;width:1.05em;height:1.05em;border:1px solid var(--tb-accent);border-radius:3px;vertical-align:-.15em;margin-right:1px}
.tk-thick{display:inline-block;width:1.5em;border-bottom:4px solid var(--tb-fg);vertical-align:.1em}
.tk-comes{color:var(--tb-good)}
.tk-swatch.byte{border:1px dashed var(--tb-edge)}
.tk-lower{display:flex;gap:.9rem;flex:1 1 auto;min-height:0;border-top:1px solid var(--tb-line);padding-top:.5rem}
.tk-side{display:grid;gap:.3rem}
.tbviz .tk-joins{list-style:none;margin:0;padding:0;overflow-y:auto;position:relative;display:flex;flex-wrap:wrap;gap:.2rem .7rem;max-height:6.2rem}
.tk-joins li{margin:0;color:var(--tb-muted);font:max(12px,.92em)/1.4 system-ui,sans-serif;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.tk-joins li.done,.tk-joins li.next{color:var(--tb-fg)}
.tk-joins li.next span{text-decoration:underline;text-underline-offset:.25em}
.tk-joins span{font-family:${MONO}}
.tk-joins b{display:inline-block;min-width:3.4rem;text-align:center;font-weight:400;border:1px dashed var(--tb-edge);border-radius:4px;font-variant-numeric:tabular-nums;color:var(--tb-fg)}
.tk-joins .done b{border:1px solid var(--tb-accent)}
.tk-joins .next b{border:2px solid var(--tb-good);font-weight:700}
:is(.tk-swatch,.tk-token,.tk-joins .done b).early0{background:var(--tk-h0)}
:is(.tk-swatch,.tk-token,.tk-joins .done b).early1{background:var(--tk-h1)}
:is(.tk-swatch,.tk-token,.tk-joins .done b).early2{background:var(--tk-h2)}
:is(.tk-swatch,.tk-token,.tk-joins .done b).early3{background:var(--tk-h3)}
:is(.tk-main,.tk-side){--tk-h0:color-mix(in srgb,var(--tb-accent) 48%,var(--tb-bg));--tk-h1:color-mix(in srgb,var(--tb-accent) 30%,var(--tb-bg));--tk-h2:color-mix(in srgb,var(--tb-accent) 15%,var(--tb-bg));--tk-h3:color-mix(in srgb,var(--tb-accent) 5%,var(--tb-bg))}
@container (max-width:520px){.tk-main{height:390px}}
.tk-empty{margin:auto}
.tk-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.5rem;min-width:0}
.tk-facts{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;font-size:max(12px,.9em);font-variant-numeric:tabular-nums}
.tk-facts b{font-weight:650}
.tk-run{display:flex;flex-wrap:wrap;gap:.45rem .5rem;max-height:8.6rem;overflow-y:auto;padding:3px;position:relative;flex:none;cursor:pointer;user-select:none}
.tk-piece{display:inline-flex;flex-wrap:wrap;gap:2px;border-bottom:2px solid var(--tb-edge);padding-bottom:3px;min-width:0}
.tk-piece.on{border-bottom:4px solid var(--tb-fg);padding-bottom:1px}
.tk-piece.lone{border-bottom-style:dashed}
.tbviz .tk-token{font:max(12px,.95em)/1.25 ${MONO};display:inline-flex;align-items:center;justify-content:center;min-width:1.6rem;min-height:1.6rem;max-width:100%;overflow-wrap:anywhere;
color:var(--tb-fg);background:var(--tb-bg);border:1px solid var(--tb-edge);border-radius:4px;padding:1px 4px;margin:0;white-space:pre-wrap}
.tbviz .tk-token:is(.h0,.h1,.h2,.h3){border-color:var(--tb-accent)}
.tbviz .tk-token.byte{background:var(--tb-bg);border-style:dashed;border-color:var(--tb-edge)}
.tbviz .tk-token.special{border-width:3px;border-style:double}
.tbviz .tk-token[aria-selected=true]{outline:3px solid var(--tb-fg);outline-offset:-1px;font-weight:700}
.tk-stage{overflow:auto;flex:1 1 auto;min-width:0;min-height:0;display:flex}
.tbviz .tk-tree{display:block;flex:none;max-width:none;margin:0 auto}
.tk-tree text{font:13px ${MONO};fill:var(--tb-fg);text-anchor:middle;dominant-baseline:central;pointer-events:none}
.tk-box-of rect{fill:var(--tk-h3);stroke:var(--tb-accent);stroke-width:1.4}
.tk-box-of.h0 rect{fill:var(--tk-h0)}
.tk-box-of.h1 rect{fill:var(--tk-h1)}
.tk-box-of.h2 rect{fill:var(--tk-h2)}
.tk-box-of.special rect{fill:var(--tb-bg);stroke:var(--tb-edge);stroke-width:3}
.tk-box-of.byte rect{fill:var(--tb-bg);stroke:var(--tb-edge);stroke-dasharray:3 2}
.tk-box-of.used rect{fill:none;stroke:var(--tb-line)}
.tk-box-of.used text{fill:var(--tb-muted)}
.tk-box-of.new rect{stroke:var(--tb-good);stroke-width:3}
.tk-box-of.on rect{stroke:var(--tb-fg);stroke-width:2.4}
.tk-branch{stroke:var(--tb-line);stroke-width:1.4;fill:none}
.tk-rank text{font:12px system-ui,sans-serif;fill:var(--tb-muted);paint-order:stroke;stroke:var(--tb-bg);stroke-width:4px;stroke-linejoin:round}
.tk-rank.next text{font-size:14px;font-weight:700;fill:var(--tb-good)}
.tbviz .tk-lines{margin:0;display:grid;grid-template-columns:auto minmax(0,1fr);gap:.2rem .7rem;font-size:max(12px,.92em)}
.tk-lines dt{color:var(--tb-muted);font-weight:400;margin:0}
.tk-lines dd{margin:0;font-family:${MONO};font-size:max(12px,.95em);overflow-wrap:anywhere}
.tk-scroll{position:relative;overflow:auto;max-height:16rem;max-width:100%;min-width:0}
.tbviz .tk-table{border-collapse:collapse;margin:0;width:100%;font-size:max(12px,.88em);display:table;background:none;color:var(--tb-fg);font-variant-numeric:tabular-nums}
.tbviz .tk-table tr{background:none;border:0}
.tbviz .tk-table :is(td,th){border:0;border-bottom:1px solid var(--tb-line);padding:.15rem .45rem;text-align:left;background:none;color:inherit;font-weight:400;vertical-align:baseline}
.tbviz .tk-table thead th{color:var(--tb-muted);white-space:nowrap}
.tbviz .tk-table td{white-space:nowrap}
.tbviz .tk-table .n{text-align:right}
.tbviz .tk-table .m{font-family:${MONO}}
.tbviz .tk-table tr.on>*{background:var(--tb-fill);font-weight:650}
`;
