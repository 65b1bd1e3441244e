/** Style of the float figure; each field has a hue, and everywhere also its name, its place or its form. */

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace`;

export const CSS = `
.fx{display:flex;flex-direction:column;gap:.4rem}
.fx-sign{--hue:var(--tb-violet);--hue-soft:var(--tb-violet-soft)}
.fx-exponent{--hue:var(--tb-warm);--hue-soft:var(--tb-warm-soft)}
.fx-fraction{--hue:var(--tb-accent);--hue-soft:var(--tb-accent-soft)}
.tbviz .fx-title{font-size:max(12px,.8em);font-weight:600;color:var(--tb-muted);margin:0}
.tbviz .fx-small{font-size:max(12px,.8em);color:var(--tb-muted)}
.tbviz .fx sup{font-size:max(12px,.72em);line-height:0;vertical-align:.45em;position:static;top:0}
.fx-chips{display:flex;flex-direction:column;gap:.3rem;flex:1 1 100%}
.fx-chips .tbviz-button{font-size:max(12px,.86em);min-height:1.75rem;padding:.15rem .6rem;border-radius:99px}
.fx-bar{display:flex;flex-wrap:wrap;gap:.45rem .6rem;align-items:center}
.fx-bar select{font-family:${MONO}}
.fx-bar input[type=text]{font-family:${MONO};width:14.5rem}
.fx-bar .tbviz-toolbar .tbviz-button{font-size:max(12px,.84em);min-height:1.75rem;padding:.15rem .55rem}
.fx-box{border:1px solid var(--tb-line);border-radius:8px;padding:.5rem .75rem;display:flex;flex-direction:column;gap:.45rem;min-width:0}
@container (max-width:559px){.tbviz .fx-bar .tbviz-field input[type=text]{width:100%}.fx-box{padding:.55rem .6rem}}
.fx-value-box{border:0;padding:0;gap:.5rem;min-height:9.3rem}
.fx-bits{display:flex;flex-direction:column;gap:.3rem}
.fx-legend{order:1;display:flex;flex-wrap:wrap;gap:0 1.1rem}
.tbviz .fx-head{border-bottom:3px solid var(--hue);padding-bottom:1px;font-size:max(12px,.86em);font-weight:650;color:var(--hue);line-height:1.3}
.fx-own{display:grid;grid-template-columns:repeat(16,minmax(0,1fr));gap:3px}
.fx-bits[data-width="8"] .fx-own{grid-template-columns:repeat(8,minmax(0,3.2rem))}
.fx-bit{font:600 1.05rem/1 ${MONO};height:2.4rem;padding:0;margin:0;border-radius:6px;border:1px solid var(--tb-edge);border-bottom:4px solid var(--hue);background:var(--tb-bg);color:var(--tb-muted);cursor:pointer;touch-action:manipulation;box-shadow:none}
.fx-bits:is([data-width="8"],[data-width="16"]) .fx-bit{height:3.6rem}
.tbviz .fx-head.fx-exponent{border-bottom-style:double}
.tbviz .fx-head.fx-sign{border-bottom-style:dotted}
.fx-bit.fx-exponent{border-bottom-style:double}
.fx-bit.fx-sign{border-bottom-style:dotted}
.fx-bit:hover{border-color:var(--hue);background:var(--tb-fill)}
.fx-bit[aria-pressed=true]{background:var(--hue-soft);border-color:var(--hue);color:var(--hue);font-weight:700}
.tbviz .fx-bit:focus-visible{outline-offset:1px}
.fx-zoom{font-size:max(12px,.86em);color:var(--tb-muted);align-self:center}
.fx-meanings{display:flex;flex-direction:column;gap:.2rem}
.fx-readout{min-height:2.8rem}
.fx-line-of-control .tbviz-field{flex-direction:row;align-items:center;gap:.4rem;flex-wrap:wrap}
.fx-line-of-control .tbviz-error{flex:1 1 100%}
@container (max-width:559px){
.fx-own,.fx-bits[data-width="8"] .fx-own{grid-template-columns:repeat(8,minmax(0,1fr));gap:2px}
.fx-bit{height:2.55rem}
.fx-bits[data-width="16"] .fx-bit{height:3.6rem}
.fx-bits[data-width="8"] .fx-bit{height:4.4rem}
.fx-value-box{min-height:17.3rem;gap:.3rem}
.fx-readout{min-height:4.9rem}
.fx-line-of-control{flex-wrap:nowrap;width:100%}
.tbviz .fx-line-of-control label{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.fx-line-of-control .tbviz-field:has(input){flex:1 1 5rem}
.tbviz .fx-line-of-control .tbviz-field:has(select){flex:0 1 auto}
.fx-line-of-control .tbviz-toolbar{flex:none;flex-wrap:nowrap}
.fx-zoom{display:none}
}
.tbviz .fx-meaning{font-family:${MONO};font-size:max(12px,.84em);color:var(--tb-fg);overflow-wrap:anywhere;line-height:1.4}
.tbviz .fx-formula{font-family:${MONO};font-size:max(12px,.98em);line-height:1.5;background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;overflow-wrap:anywhere}
.fx-formula>[class^=fx-]{font-weight:600}
.fx-formula>span:not(.fx-equals):not(.fx-whole){color:var(--hue)}
.fx-formula .fx-equals{font-weight:400;color:var(--tb-fg)}
.fx-formula .fx-whole{font-weight:700;color:var(--tb-fg)}
.fx-facts{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:.55rem .9rem}
@container (min-width:640px){.fx-facts{grid-template-columns:repeat(4,minmax(0,1fr))}}
.fx-facts>div{min-width:0;display:flex;flex-direction:column}
.fx-label{font-size:max(12px,.78em);color:var(--tb-muted)}
.fx-fact{font-family:${MONO};font-size:max(12px,.92em);overflow-wrap:anywhere}
.fx-more{font-family:${MONO};font-size:max(12px,.78em);color:var(--tb-muted);overflow-wrap:anywhere}
.tbviz .fx-table{border-collapse:collapse;width:100%;margin:0;font-size:max(12px,.92em);display:table}
.tbviz .fx-table tr{background:none;border:0}
.tbviz .fx-table :is(th,td){padding:.25rem .5rem;border:0;border-top:1px solid var(--tb-line);text-align:right;background:none;color:var(--tb-fg);font-variant-numeric:tabular-nums;vertical-align:middle}
.tbviz .fx-table thead th{border-top:0;font-weight:600;font-size:max(12px,.86em);color:var(--tb-muted);text-align:right}
.tbviz .fx-table :is(th,td):is(:first-child,:last-child){text-align:left}
.tbviz .fx-table th:first-child{padding-left:0}
.tbviz .fx-table td{font-family:${MONO};font-size:max(12px,.94em);white-space:nowrap}
.tbviz .fx-table td:last-child{font-family:inherit;white-space:normal}
.tbviz .fx-table td.bad{color:var(--tb-bad);font-weight:600}
.tbviz .fx-table tr.on td{font-weight:650}
.fx-pick{font-family:${MONO};font-size:max(12px,.86em);width:9.6rem;text-align:left;white-space:nowrap;padding:.15rem .5rem}
@container (max-width:639px){
.tbviz .fx-table thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.tbviz .fx-table,.tbviz .fx-table tbody{display:block}
.tbviz .fx-table tr{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:.1rem .75rem;padding:.45rem 0;border-top:1px solid var(--tb-line)}
.tbviz .fx-table tbody tr:first-child{border-top:0;padding-top:0}
.tbviz .fx-table :is(th,td),.tbviz .fx-table :is(th,td):is(:first-child,:last-child){display:block;border:0;padding:0;text-align:left;white-space:normal}
.tbviz .fx-table td:is([data-title=error],[data-title=relative])::before{content:attr(data-title) " ";font-family:system-ui,sans-serif;font-size:max(12px,.86em);color:var(--tb-muted);font-weight:400}
.tbviz .fx-table td:is([data-title=error],[data-title=relative]){order:1}
.tbviz .fx-table td:last-child{grid-column:1/-1;order:0}
.tbviz .fx-table td:nth-child(2){align-self:center;font-weight:650}
}
.fx-lines{min-width:0;width:100%;overflow:hidden}
.tbviz .fx-line{max-width:none;overflow:visible}
.fx-line text{font:12px system-ui,sans-serif;fill:var(--tb-muted);paint-order:stroke;stroke:var(--tb-bg);stroke-width:5px;stroke-linejoin:round}
.fx-line .fx-name{font-family:${MONO};font-size:12px}
.fx-line .fx-range{font:400 12px system-ui,sans-serif;fill:var(--tb-muted)}
.fx-line .fx-name.on{fill:var(--tb-fg);font-weight:700}
.fx-line .fx-value{font-family:${MONO};font-size:12px;fill:var(--tb-muted)}
.fx-line .fx-value.on{fill:var(--tb-accent);font-weight:700}
.fx-line .fx-at{font-family:${MONO};font-size:12.5px;fill:var(--tb-fg);font-weight:600}
.fx-axis{stroke:var(--tb-line);stroke-width:1.5}
.fx-tick{stroke:var(--tb-muted);stroke-width:1.6}
.fx-typed{stroke:var(--tb-fg);stroke-width:1.5;stroke-dasharray:4 4;opacity:.75}
.fx-dot{fill:var(--tb-accent);stroke:var(--tb-bg);stroke-width:1.5}
.fx-dense{fill:var(--tb-muted);opacity:.45}
.fx-basin{fill:var(--tb-accent-soft)}
.fx-beyond{fill:var(--tb-bad-soft)}
.fx-grip rect{fill:var(--tb-accent-soft);stroke:var(--tb-accent);stroke-width:1.5}
.fx-grip .fx-at{stroke:none}
.tbviz .fx-line{cursor:ew-resize;touch-action:pan-y;user-select:none}
.fx-hit{fill:transparent}
.fx-typed,.fx-grip{pointer-events:none}
.fx-hit:hover{fill:var(--tb-accent);fill-opacity:.18}
`;
