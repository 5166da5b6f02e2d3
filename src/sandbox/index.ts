/** Public surface of `carillon/sandbox`: the service in your own process. Anything not exported here may change. */
export type { SandboxOptions } from './core/settings/settings.ts';
export { SandboxStartError } from './core/settings/settings.ts';
export { FaultRuleError, type FaultRuleInput } from './faults/rule.ts';
export type { ConductReport } from './judge/conduct-report.ts';
export type { JournalEntry } from './judge/journal.ts';
export type { CallTruth } from './core/telephony/call-truth.ts';
export { startSandbox, type RunningSandbox } from './start.ts';
