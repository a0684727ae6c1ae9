import { releaseNamed } from "../cli/check/release-value.js";
import { createValidator } from "../runtime/validate/index.js";
import { Sampler } from "../cli/check/sample.js";
for (const r of ["3.0.26","3.1.19","3.2.4"]) { const x=await releaseNamed("/work/shared/releases/"+r);
 const v=await createValidator(x); const s=new Sampler(await x.schemas());
 for (const tool of ["get_products","create_media_buy","update_media_buy","sync_creatives","get_media_buy_delivery","get_media_buys","list_creatives","list_creative_formats","list_products","buy_products","control_media_buy"]) {
  const t=x.tools[tool]; if(!t) continue;
  const arm=(t.arms as any).completed;
  let got; let n=0; for (const c of s.requests(arm)) { n++; const cc={...c}; const j=v.arm(tool,"completed",cc); if (j.ok){got=cc;break;} else if(n<3) console.log(tool, j.errors.slice(0,2).map(e=>e.pointer+" "+e.message)); }
  console.log(r,tool,arm,JSON.stringify(got)?.slice(0,400));
  let rq; for (const c of s.requests(t.request)) { if (v.request(tool,c).ok){rq=c;break;} }
  console.log("   req",JSON.stringify(rq)?.slice(0,400));
 }
 for (const p of s.requests("core/product.json")) { const b={status:"completed",cache_scope:"public",products:[p]}; const j=v.arm("get_products","completed",b); console.log("product",j.ok, JSON.stringify(p).slice(0,900), !j.ok&&j.errors.slice(0,3)); if (j.ok) break; }
}
