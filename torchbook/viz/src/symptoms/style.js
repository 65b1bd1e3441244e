/** Style of the pictures: places of the thumbnails, the open one with its causes; ill is red, cured green, what was is dashed. */

export const [CAPTION, FOOT, SIDE] = [30, 24, 8]; // pixels around the plot of the open picture
export const PART = { few: 0.56, many: 0.46 }; // of the width is the open picture, beside few causes or many

export const CSS = `
.sy-stage{--part:${PART.few};position:relative;height:26rem;overflow:hidden}
.tbviz .sy-gallery{position:absolute;inset:0;display:block}
.tbviz .sy-card{--c:var(--c5);--r:var(--r5);position:absolute;left:calc(var(--c)*20%);top:calc(var(--r)*100%/3);width:20%;height:calc(100%/3);
display:flex;flex-direction:column;padding:4px ${SIDE}px 8px;border:0;border-radius:8px;text-align:left;color:var(--tb-fg)}
.tbviz .sy-card:hover{background:none}
.tbviz .sy-card:focus-visible{outline-offset:-3px}
.tbviz .sy-card[hidden]{display:flex!important;opacity:0;visibility:hidden}
.sy-name{font-weight:600;font-size:13px;line-height:1.25;padding:1px 0 3px;flex:none}
.sy-plot{position:relative;flex:1;min-height:0;display:block;border-radius:6px;background:var(--tb-fill)}
.sy-card:hover .sy-plot{box-shadow:0 0 0 1.5px var(--tb-fg)}
.tbviz .sy-plot svg{position:absolute;inset:0;width:100%;height:100%;max-width:none}
.sy-plot path{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.sy-plot .sy-ill{stroke:var(--tb-bad)}
.sy-plot .sy-well{stroke:var(--tb-good);stroke-width:2.5}
.sy-plot .sy-other{stroke:var(--tb-accent)}
.sy-plot .sy-level{stroke:var(--tb-muted);stroke-width:1.3;stroke-dasharray:5 4}
.sy-plot .sy-ghost{stroke:var(--tb-bad);stroke-width:1.4;stroke-dasharray:3 4;opacity:.75}
.sy-plot .sy-work{fill:var(--tb-accent);stroke:var(--tb-fill);stroke-width:1}
.sy-plot .sy-worked{fill:var(--tb-good)}
.sy-plot .sy-wait{stroke-linejoin:miter;stroke-linecap:butt;fill:var(--tb-bad-soft);stroke:var(--tb-bad);stroke-width:1;stroke-dasharray:3 3}
.sy-off .sy-plot svg,.sy-off .sy-mark{opacity:.15}
.tbviz .sy-off{color:var(--tb-muted)}
.sy-off .sy-name{font-weight:400}
.sy-mark{position:absolute;width:14px;height:14px;margin:-7px 0 0 -7px;border-radius:50%;border:2px solid var(--tb-fg)}
.sy-mark.sy-broken{border:0;background:linear-gradient(var(--tb-bad),var(--tb-bad)) center/15px 3px no-repeat,linear-gradient(var(--tb-bad),var(--tb-bad)) center/3px 15px no-repeat;transform:rotate(45deg);border-radius:0}
.sy-mark.sy-past:not(.sy-broken){opacity:0}
.sy-labels span{position:absolute;font-size:12px;line-height:1.2;color:var(--tb-muted);white-space:nowrap;text-shadow:0 0 3px var(--tb-fill),0 0 3px var(--tb-fill),0 0 2px var(--tb-fill)}
.sy-labels .sy-right{transform:translateX(-100%)}
.sy-labels .sy-above{transform:translateY(-115%)}
.sy-labels .sy-below{transform:translateY(20%)}
.sy-labels .sy-right.sy-above{transform:translate(-100%,-130%)}
.sy-labels .sy-right.sy-below{transform:translate(-100%,25%)}
.sy-labels .sy-end{font-weight:650;color:var(--tb-bad);transform:translate(-50%,-165%)}
.sy-labels .sy-under{transform:translate(-50%,75%)}
.sy-labels .sy-message{transform:translateY(-100%);white-space:normal;width:90%}
.tbviz :is(.sy-labels,.sy-seen) .sy-t-ill{color:var(--tb-bad);font-weight:650}
.tbviz :is(.sy-labels,.sy-seen) .sy-t-well{color:var(--tb-good);font-weight:650}
.sy-labels .sy-t-other{color:var(--tb-accent)}
.tbviz .sy-card[aria-expanded=true]{left:0;top:0;width:calc(var(--part)*100%);height:100%;z-index:1;padding:0 ${SIDE}px ${FOOT}px}
.sy-card[aria-expanded=true] .sy-name{height:${CAPTION}px;padding:4px 0 0;font-size:1.0625rem}
.tbviz .sy-lines{position:absolute;inset:0;width:100%;height:100%;z-index:2;pointer-events:none;max-width:none}
.sy-many{--part:${PART.many}}
.sy-lines path{fill:none;stroke:var(--tb-edge);stroke-width:1.2}
.sy-lines .sy-hint{stroke-dasharray:1 4;stroke-linecap:round}
.sy-lines .sy-on{stroke:var(--tb-good);stroke-width:2.5}
.tbviz .sy-causes{position:absolute;left:calc(var(--part)*100% + 2%);right:0;top:0;bottom:0;margin:0;padding:0;list-style:none;display:grid;grid-auto-rows:minmax(0,1fr);z-index:1}
.sy-many .sy-causes{font-size:12.5px}
.tbviz .sy-causes li{display:flex;align-items:center;gap:.3rem;margin:0;min-height:0}
.tbviz .sy-causes .tbviz-button{flex:1;min-width:0;text-align:left;display:flex;flex-direction:column;gap:.1rem;padding:.35rem .6rem;line-height:1.3;max-height:100%}
.tbviz .sy-causes .tbviz-button[aria-pressed=true]{background:var(--tb-good-soft);border-color:var(--tb-good);color:var(--tb-fg);font-weight:400}
.sy-causes b{font-weight:650}
.sy-test{color:var(--tb-muted)}
.sy-causes [aria-pressed=true] .sy-test{color:inherit}
.tbviz .sy-causes a{flex:none;display:inline-flex;align-items:center;justify-content:center;min-width:44px;min-height:44px;font-size:max(12px,.88em)}
.tbviz.sy a{color:var(--tb-accent);text-decoration:underline}
.sy .tbviz-bar{min-height:3.2rem;align-items:end;flex-wrap:nowrap}
.sy-search{flex:1 1 14rem;min-width:0}
.sy-search input{width:100%}
.sy .tbviz-readout{min-height:3.7rem}
.sy .tbviz-readout .tbviz-toolbar{flex-wrap:nowrap;overflow-x:auto;padding:4px;margin:-4px}
.sy .tbviz-readout .tbviz-button{flex:none}
.sy-move{display:flex;flex-direction:column;gap:.45rem}
.sy-move pre{overflow-x:auto;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:6px;padding:.45rem .6rem;white-space:pre}
@media (prefers-reduced-motion:no-preference){
.sy-card{transition:left .42s,top .42s,width .42s,height .42s,opacity .3s,visibility .42s,padding .42s}
.sy-mark{transition:left .38s,top .38s,opacity .3s}
.sy-labels span,.sy-lines,.sy-causes li{animation:sy-in .5s}
}
@keyframes sy-in{0%,50%{opacity:0}}
@container (max-width:560px){
.sy-stage{height:31rem}
.tbviz .sy-card{--c:var(--c3);--r:var(--r3);left:calc(var(--c)*100%/3);top:calc(var(--r)*20%);width:calc(100%/3);height:20%;padding:2px 4px 5px}
.sy-card[aria-expanded=false] .sy-name{font-size:12px;white-space:nowrap}
.tbviz .sy-card[aria-expanded=true]{width:100%;height:41%;padding:0 0 ${FOOT - 4}px}
.tbviz .sy-causes{left:0;top:42%}
.tbviz .sy-few .sy-card[aria-expanded=true]{height:54%}
.tbviz .sy-few .sy-causes{top:55%;grid-auto-rows:auto;align-content:start;gap:.4rem}
.tbviz .sy-many .sy-card[aria-expanded=true]{height:31%}
.tbviz .sy-many .sy-causes{top:32%}
.sy-many .sy-causes .tbviz-button{justify-content:center}
.tbviz .sy-lines{display:none}
.tbviz .sy-most .sy-test{display:none}
.sy .tbviz-readout{min-height:5.6rem}
}
`;
