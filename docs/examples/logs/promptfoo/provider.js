module.exports = class { constructor(o){ this.kind = o.config.kind; } id(){ return `agent-${this.kind}`; }
 async callApi(prompt, context){ const i = Number(context.vars.n); if (this.kind==='new' && i===5) return {error: 'the model did not answer'}; const right = this.kind==='old' ? i%2===0 : i%6!==1; return {output: right ? String(2*i) : 'unknown'}; } };
