import { reportsRecipients } from '../../src/rules/service-api.ts';
import type { Queries } from '../../src/ledger/tx.ts';
import type { RunningSandbox } from '../../src/sandbox/start.ts';
import type { LogViolation } from '../../src/verify/log-rules.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { isTakenBack } from '../judge/judge-calls.ts';
import { judge, type Trial, type Violation } from '../judge/judge.ts';
import { readLedger } from '../judge/ledger.ts';
import type { WaitableClock } from './clock.ts';
import type { Deed, Mix } from './mix.ts';
import type { StrikePoint } from './strikes.ts';

/** What the driver noted of a run. */
interface Course {
  /** What the driver itself could not make sense of: it never ended, an activity failed for good. */
  faults: string[];
  /** Where the run's processes died or lost their word. */
  struck: StrikePoint[];
  /** For how many more batches submits went on, and where they were taken up. */
  submits: string[];
  ticks: number;
  deeds: Deed[];
  /** How often the operator resumed campaigns that had paused by themselves. */
  resumes: number;
  log: string[];
}

export interface Outcome extends Course {
  violations: Violation[];
  /** What the log of the run itself proves to be broken. */
  proven: LogViolation[];
  trial: Trial;
}

/** A run that is over, while its service still answers. */
interface Played extends Course {
  mix: Mix;
  clock: WaitableClock;
  sandbox: RunningSandbox;
  db: Queries;
  /** Ids of requests whose reply their process never had. */
  lostReplies: ReadonlySet<string>;
  /** How many processes there were. */
  processes: number;
}

/** Judges a run. */
export async function closeBook({ mix, clock, sandbox, db, lostReplies, processes, ...course }: Played): Promise<Outcome> {
  const { api = 'contract', campaigns } = mix;
  const journal = sandbox.journal();
  const trial: Trial = {
    ledger: await readLedger(db),
    calls: sandbox.calls().filter((call) => !isTakenBack(call)),
    reports: reportsRecipients(api),
    cancelHides: api === 'batch-calling' && mix.sandbox.batchCalling?.cancelMarks === 'all',
    dialect: mix.sandbox.dialect === 'spec' ? 'spec' : 'extended',
    lists: campaigns.map(({ campaignId, rows }) => ({ campaignId, rows: rows.length })),
    lostReplies: lostOf(journal, lostReplies),
    partialReplies: new Set(
      journal.flatMap((entry) =>
        entry.requestId !== null && entry.faults.some((id) => id.startsWith('partial')) ? [entry.requestId] : [],
      ),
    ),
    unreadable: new Set(
      journal.flatMap((entry) =>
        entry.operation === 'get_conversation' && entry.faults.some((id) => id.startsWith('missing'))
          ? [decodeURIComponent(entry.path.split('/').at(-1) ?? '')]
          : [],
      ),
    ),
  };
  const proof = await verifyLog(db, null);
  for (const event of await db.selectFrom('events').selectAll().orderBy('seq').execute()) {
    const { at, type, attempt_id: attempt, batch_id: batch, recipient_id: recipient, data } = event;
    course.log.push(`  ev ${(at - clock.anchorServiceMs) / 1000}s ${type} ${attempt ?? batch ?? recipient ?? ''} ${data ?? ''}`);
  }
  const kept = new Set(['double_dial', 'request_id_reuse', 'key_in_url', 'retry_after']);
  // Reads that were under way together with the one that was asked to wait.
  const limitedAt = new Set(journal.filter((entry) => entry.status === 429).map((entry) => entry.at));
  // A wait that no process lived to hear of. How long reads are to wait, only the process that was asked knows.
  const unheard = journal.some((entry) => entry.status === 429 && lostReplies.has(entry.requestId ?? ''));
  const isExcused = ({ at, what }: { at: number; what: string }) =>
    limitedAt.has(at) || (what.startsWith('batch_calls') ? unheard : processes > 1);
  for (const { name, violations } of sandbox.conduct().checks) {
    const [worst] = violations.filter((violation) => name !== 'retry_after' || !isExcused(violation));
    if (worst !== undefined && kept.has(name)) course.faults.push(`conduct ${name}: ${JSON.stringify(worst)}`);
  }
  return { ...course, violations: judge(trial), proven: proof.rules.flatMap(({ violations }) => violations), trial };
}

/** The requests whose reply was lost on its way, and all that never came to the service. */
function lostOf(journal: ReturnType<RunningSandbox['journal']>, known: ReadonlySet<string>): Set<string> {
  const lost = new Set(known);
  const destroys = /^(truncate|html|reset|error)/;
  const entries = new Map(journal.filter((entry) => entry.operation === 'batch_calls').map((entry) => [entry.requestId, entry]));
  for (const [requestId, entry] of entries) {
    if (requestId === null) continue;
    if (entry.ending !== 'sent' || entry.faults.some((id) => destroys.test(id))) lost.add(requestId);
  }
  return new Proxy(lost, {
    get: (target, key) => (key === 'has' ? (id: string) => target.has(id) || !entries.has(id) : (Reflect.get(target, key) as unknown)),
  });
}
