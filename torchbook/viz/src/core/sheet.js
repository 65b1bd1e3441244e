/** Style of a calculator: its fields, boxes and notes, the table of results, axes and their labels. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const SHEET = `
.tbviz .sc-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .sc-head{font-size:1.02em}
.tbviz .sc-small{font-size:max(12px,.82em);color:var(--tb-muted);margin:0}
.sc-fields{display:grid;grid-template-columns:repeat(auto-fill,minmax(11.5rem,1fr));gap:.5rem .8rem;align-items:end;flex:1 1 100%}
.sc-fields .tbviz-field{display:flex}
.sc-fields .tbviz-field>:is(input,select){width:100%}
.sc-fields label{line-height:1.25}
.sc-fields input{font-family:${MONO};font-variant-numeric:tabular-nums}
@container (max-width:519px){.sc-fields{grid-template-columns:repeat(2,minmax(0,1fr))}.sc-fields .sc-wide{grid-column:1/-1}}
.sc-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center;flex:1 1 100%}
.sc-box{border:1px solid var(--tb-line);border-radius:8px;padding:.6rem .7rem;display:flex;flex-direction:column;gap:.45rem;min-width:0}
.tbviz .sc-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.tbviz .sc-table{border-collapse:collapse;width:100%;margin:0;font-size:max(12px,.92em);display:table;color:var(--tb-fg);background:none}
.tbviz .sc-table tr{background:none;border:0}
.tbviz .sc-table :is(th,td){padding:.28rem .5rem;border:0;border-top:1px solid var(--tb-line);text-align:left;background:none;color:inherit;vertical-align:baseline;font-weight:400}
.tbviz .sc-table tbody:first-of-type tr:first-child>*{border-top:0}
.tbviz .sc-table .sc-group th{font-size:max(12px,.82em);font-weight:600;color:var(--tb-muted);padding-top:.55rem}
.tbviz .sc-table :is(th,td):first-child{padding-left:0;width:10.5rem}
.tbviz .sc-table .sc-value{font-weight:650;font-variant-numeric:tabular-nums;white-space:nowrap;width:6.8rem}
.tbviz .sc-table tr.main .sc-value{color:var(--tb-accent)}
.tbviz .sc-table tr.main th{font-weight:650}
.tbviz .sc-table tr.bad .sc-value{color:var(--tb-bad)}
.sc-rule{color:var(--tb-muted);font-size:max(12px,.86em)}
.sc-sum{font-family:${MONO};font-size:max(12px,.88em);overflow-wrap:anywhere}
.tbviz .sc-more{display:block;color:var(--tb-muted);font-size:max(12px,.86em)}
.tbviz tr.bad .sc-more{color:var(--tb-bad)}
@container (max-width:519px){
.tbviz .sc-table,.tbviz .sc-table tbody{display:block}
.tbviz .sc-table tr{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.1rem .6rem;padding:.35rem 0;border-top:1px solid var(--tb-line)}
.tbviz .sc-table tbody:first-of-type tr:first-child{border-top:0}
.tbviz .sc-table :is(th,td),.tbviz .sc-table :is(th,td):first-child{display:block;border:0;padding:0;width:auto}
.tbviz .sc-table .sc-value{text-align:right;width:auto}
.tbviz .sc-table td:last-child{grid-column:1/-1}
}
.tbviz .sc-svg{max-width:none;overflow:visible;display:block}
.sc-svg text{font:12.5px system-ui,sans-serif;fill:var(--tb-fg)}
.sc-svg .sc-muted,.sc-svg .sc-axis{fill:var(--tb-muted)}
.sc-grid{stroke:var(--tb-line);stroke-width:1}
.sc-svg .sc-here{font-weight:650;paint-order:stroke;stroke:var(--tb-bg);stroke-width:4px;stroke-linejoin:round}
`;
