import { runCheck } from './src/cli/check.ts';
try { await runCheck({stdout:process.stdout,stderr:process.stderr,now:Date.now},{campaignPath:process.argv[2]!,json:process.argv[3]==='--json',rowsPath:process.argv[4]??null}); } catch(e){ console.log('ERR',(e as Error).name,(e as Error).message, (e as {exitCode?:number}).exitCode)}
