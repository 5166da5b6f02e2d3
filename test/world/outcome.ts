import type { Queries } from '../../src/ledger/tx.ts';
import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import type { RunningSandbox } from '../../src/sandbox/start.ts';
import type { LogViolation } from '../../src/verify/log-rules.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { gatherMix, isMade, readLedger, type Ledger } from './gather.ts';
import type { Evidence } from './judge/evidence.ts';
import { judge, type Breach } from './judge/judge.ts';
import type { Deed, Mix } from './mix.ts';
import type { StrikePoint } from './strikes.ts';

interface Course {
  /** What the driver made no sense of: no end, an activity that failed for good. */
  faults: string[];
  struck: StrikePoint[];
  /** For how many more batches submits went on, and where they were taken up. */
  submits: string[];
  deeds: Deed[];
  /** How often campaigns that had paused by themselves were resumed. */
  resumes: number;
  log: string[];
}

export interface Outcome extends Course {
  breaches: Breach[];
  /** What the log itself proves broken. */
  proven: LogViolation[];
  /** By which it was judged. */
  evidence: Evidence;
  ledger: Ledger;
  /** Also those made for others. */
  calls: readonly CallTruth[];
}

/** A run that is over, while its service still answers. */
interface Played extends Course {
  mix: Mix;
  sandbox: RunningSandbox;
  db: Queries;
  /** Ids of requests whose reply their process never had. */
  lostReplies: ReadonlySet<string>;
  processes: number;
}

export async function closeBook({ mix, sandbox, db, lostReplies, processes, ...course }: Played): Promise<Outcome> {
  const journal = sandbox.journal();
  const ledger = await readLedger(db);
  const evidence = gatherMix(mix, sandbox, ledger, lostReplies);
  const proof = await verifyLog(db, null);
  const kept = new Set(['double_dial', 'request_id_reuse', 'key_in_url', 'retry_after']);
  // Reads under way together with the one asked to wait.
  const limitedAt = new Set(journal.filter((entry) => entry.status === 429).map((entry) => entry.at));
  // Only the process that was asked knows how long reads are to wait.
  const unheard = journal.some((entry) => entry.status === 429 && lostReplies.has(entry.requestId ?? ''));
  const isExcused = ({ at, what }: { at: number; what: string }) =>
    limitedAt.has(at) || (what.startsWith('batch_calls') ? unheard : processes > 1);
  // Fences wait for the number that they would call from, which is on no list, and never ring.
  const listed = new Set(ledger.recipients.map(({ e164 }) => e164));
  const fences = new Set(sandbox.calls().flatMap((call) => (isMade(call) || listed.has(call.to) ? [] : [call.callId])));
  const isOfFence = (violation: object) => Object.values(violation).some((value) => fences.has(String(value)));
  for (const { name, violations } of sandbox.conduct().checks) {
    const [worst] = violations.filter((violation) => {
      if (name === 'retry_after') return !isExcused(violation);
      return name !== 'double_dial' || !isOfFence(violation);
    });
    if (worst !== undefined && kept.has(name)) course.faults.push(`conduct ${name}: ${JSON.stringify(worst)}`);
  }
  const proven = proof.rules.flatMap(({ violations }) => violations);
  return { ...course, breaches: judge(evidence), proven, evidence, ledger, calls: sandbox.calls().filter(isMade) };
}
