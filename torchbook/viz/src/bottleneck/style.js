/** Style of the diagnosis; answers are words, not colours. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.bn{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem}
.tbviz .bn-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.bn-chips{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.bn-chips .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.tbviz .bn-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.bn-fields{display:grid;grid-template-columns:minmax(0,1fr);gap:.45rem .8rem;align-items:end;flex:1 1 100%}
@container (min-width:420px){.bn-fields{grid-template-columns:repeat(2,minmax(0,1fr))}}
@container (min-width:700px){.bn-fields{grid-template-columns:repeat(3,minmax(0,1fr))}}
.bn-fields .tbviz-field{display:flex}
.bn-fields .tbviz-field>:is(input,select){width:100%}
.bn-fields input{font-family:${MONO};font-variant-numeric:tabular-nums}
.bn-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.bn-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.45rem;min-width:0}
.bn-pair{display:grid;grid-template-columns:minmax(0,1fr);gap:.8rem;align-items:start}
@container (min-width:700px){.bn-pair{grid-template-columns:minmax(0,1fr) minmax(0,1.15fr)}}
.bn-bars{display:grid;grid-template-columns:auto minmax(0,1fr) auto;gap:.25rem .6rem;align-items:center;font-size:max(12px,.9em)}
.bn-track{height:.85rem;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:3px;overflow:hidden;display:flex}
.bn-track>i{display:block;height:100%;background:var(--tb-accent)}
.bn-track.full>i{background:var(--tb-fg)}
.bn-value{font-variant-numeric:tabular-nums;text-align:right}
.tbviz .bn-path{list-style:none;margin:0;padding:0;display:grid;gap:.4rem}
.tbviz .bn-path li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:0 .7rem;padding-left:.7rem;border-left:3px solid var(--tb-line);margin:0}
.tbviz .bn-path li.last{border-left-color:var(--tb-accent)}
.bn-sum{grid-column:1;font-family:${MONO};font-size:max(12px,.84em);color:var(--tb-muted)}
.bn-answer{grid-row:1;grid-column:2;font-weight:650}
.tbviz .bn-cause{font-size:1.12em;font-weight:650;margin:0}
.tbviz .bn-verdict ol{margin:0;padding-left:1.3rem}
.tbviz .bn-verdict li{margin:.2rem 0}
.bn-verdict{border-color:var(--tb-accent)}
`;
