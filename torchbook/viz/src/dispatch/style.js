export const CSS = `
.dr-title{font-size:max(12px,.8em);color:var(--tb-muted);margin:0 0 .15rem}
.tbviz .dr-note{background:var(--tb-fill);border-radius:7px;padding:.45rem .7rem;font-size:max(12px,.92em)}
.dr-pick{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.4rem .7rem;flex-basis:100%}
.dr-pick select{width:100%}
.dr-steps{display:grid;gap:.35rem}
.dr-call{font-size:max(12px,.8em);color:var(--tb-muted);align-self:center}
.tbviz .dr-order{font-size:max(12px,.84em);color:var(--tb-muted);padding-top:.2rem}
.dr-stack{height:380px;overflow-y:auto;overflow-x:hidden;position:relative}
@container (max-width:520px){.dr-stack{height:372px}}
.dr-fall{position:relative;min-height:100%}
.tbviz .dr-from{position:relative;z-index:1;display:grid;grid-template-columns:1.9rem minmax(0,1fr);gap:0 .5rem;align-items:center;padding:.2rem .5rem .2rem 0;min-height:3.1rem}
.dr-from .dr-dot{grid-row:1/3}
.tbviz .dr-from code{overflow-wrap:anywhere;align-self:end;line-height:1.25}
@container (max-width:520px){.tbviz .dr-from code{font-size:12px;letter-spacing:-.02em}}
.dr-from .dr-state{text-align:left;align-self:start}
.dr-from .dr-dot{border-color:var(--tb-fg)}
.dr-from::after{content:"";position:absolute;left:.9rem;top:calc(50% + .7rem);bottom:0;width:2px;background:var(--tb-line)}
.dr-line{position:relative;z-index:1;cursor:pointer}
.tbviz .dr-line>div{position:relative;display:grid;grid-template-columns:1.9rem minmax(0,1fr) auto;gap:0 .5rem;align-items:center;padding:.14rem .5rem .14rem 0;margin:0;min-height:var(--row,1.75rem)}
.dr-line>div::before{content:"";position:absolute;left:.9rem;top:0;bottom:0;width:2px;background:var(--tb-line)}
.dr-line>div:last-child::before{bottom:50%}
.dr-line>div:hover .dr-name,.dr-line>[aria-selected=true] .dr-name{text-decoration:underline;text-underline-offset:.2em}
.dr-ball{position:absolute;left:0;right:0;top:0;border-radius:7px;background:var(--tb-accent-soft);border-left:5px solid var(--tb-accent)}
.dr-ball.off{background:var(--tb-fill);border-color:var(--tb-edge)}
.dr-fall:has(.dr-missing) .dr-ball{background:var(--tb-bad-soft);border-color:var(--tb-bad)}
.dr-dot{position:relative;justify-self:center;width:1.35rem;height:1.35rem;border-radius:50%;border:2px solid var(--tb-edge);background:var(--tb-bg);color:var(--tb-fg);
font-size:max(12px,.75em);font-weight:700;line-height:1;display:grid;place-items:center}
.dr-name{font-weight:600;overflow-wrap:anywhere}
@container (max-width:520px){.dr-name{font-size:max(12px,.9em)}}
.dr-state{font-size:max(12px,.82em);color:var(--tb-muted);text-align:right;white-space:nowrap}
.dr-line :is(.dr-chosen,.dr-later,.dr-passed,.dr-absent) .dr-state{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.dr-line>div:not(.dr-chosen,.dr-waiting)>.dr-what{display:none}
.dr-waiting>.dr-what{color:var(--tb-muted)}
.tbviz .dr-line>div{align-content:center}
:is(.dr-through,.dr-excluded) .dr-state::before{content:"taken off: "}
.dr-what{grid-column:2/4;font-size:max(12px,.8em);color:var(--tb-fg);overflow-wrap:anywhere}
.dr-chosen .dr-dot{background:var(--tb-accent);border-color:var(--tb-accent);color:var(--tb-on-accent)}
.dr-missing .dr-dot{background:var(--tb-bad);border-color:var(--tb-bad)}
.dr-waiting .dr-name{font-weight:400}
:is(.dr-later,.dr-waiting) .dr-dot{border-color:var(--tb-accent)}
.dr-passed .dr-dot{border-color:var(--tb-good);color:var(--tb-good)}
:is(.dr-through,.dr-leaves) .dr-dot{border-style:dashed}
.dr-excluded .dr-dot{border-color:var(--tb-bad);color:var(--tb-bad)}
.dr-excluded .dr-name,.dr-absent .dr-name,.dr-through .dr-name{font-weight:400}
.dr-excluded .dr-name{text-decoration:line-through}
.dr-absent .dr-name{color:var(--tb-muted)}
.dr-absent .dr-dot{width:.7rem;height:.7rem;border-style:dashed}
.tbviz .dr-said{min-height:2.9em}
@container (max-width:520px){.tbviz .dr-said{min-height:6.8em}}
@media (prefers-reduced-motion:no-preference){.dr-ball{transition:transform .42s cubic-bezier(.4,0,.3,1),height .3s}}
.dr-box{min-width:0;display:grid;gap:.55rem;align-content:start}
.dr-box dl{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.15rem .6rem;margin:0;font-size:max(12px,.88em)}
.dr-box dt{color:var(--tb-muted);font-weight:400;margin:0}
.dr-box dd{margin:0;overflow-wrap:anywhere}
.dr-parts{list-style:none;margin:0;padding:0;display:grid;gap:.3rem;font-size:max(12px,.88em)}
.dr-parts li{margin:0;padding:.25rem .45rem;border-left:3px solid var(--tb-edge);background:var(--tb-fill);overflow-wrap:anywhere}
.dr-parts li>span{display:block;color:var(--tb-muted);font-size:max(12px,.93em)}
.dr-small{font-size:max(12px,.82em);color:var(--tb-muted)}
.dr-schema{font-size:max(12px,.82em);overflow-wrap:anywhere}
@media (forced-colors:active){.dr-chosen{outline:2px solid}.dr-line>div::before{background:CanvasText}}
`;
