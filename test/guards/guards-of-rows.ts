import { besideSubmit, disturbed, insideSubmit, struck } from '../chaos/aim.ts';
import { edit, guard, type Guard } from './guard.ts';

const locks = 'src/ledger/locks.ts';
const planning = 'src/ledger/plan/planning.ts';
const withdraw = 'src/ledger/people/withdraw-recipients.ts';

/** Keep operators' decisions, and one outcome per row. */
export const guardsOfRows: readonly Guard[] = [
  guard('pause in the dial transaction', {
    edits: [
      edit(
        'src/ledger/dial/posting.ts',
        "if (campaign.state !== 'running') return releaseWholeBatch(tx, batch, { reason: `campaign_${campaign.state}`, now });",
      ),
    ],
    aim: besideSubmit('pause'),
    test: ['ledger/rows/dialling', 'paused or cancelled meanwhile'],
  }),
  guard('the pilot, in planner and dial transaction', {
    edits: [
      edit(
        'src/ledger/limits/counters.ts',
        '`((called = 0 and sample = ${sample}) or (called = 1 and promise_id is not null))`',
        '`(${sample} > 0)`',
      ),
      edit('src/ledger/dial/sort-attempts.ts', "if (pilot === null || pilot.state === 'passed') return true;", 'return true;'),
    ],
    aim: struck('a pilot', 'plan', 'submit'),
    test: ['ledger/plan/pilot', 'nobody but the sample is called'],
  }),
  guard('limits of a caller number, in planner and dial transaction', {
    edits: [
      edit(
        'src/ledger/limits/caller-room.ts',
        'if (limits === undefined || numbers.length === 0) return',
        'if (numbers.length < 9) return',
      ),
    ],
    aim: struck('one call an hour', 'plan', 'submit'),
    test: ['ledger/limits/caller-room', 'a number calls no more often than it may'],
  }),
  guard('the end of a row', {
    edits: [edit('src/ledger/plan/candidates.ts', 'rowEndsAt: row.expires_at,', 'rowEndsAt: null,')],
    aim: disturbed('rows by request, and the service wants no calls then'),
    test: ['ledger/plan/stays-open', 'a row that expires between plan and request is not called'],
  }),
  guard('the posting deadline', {
    edits: [
      edit(
        'activities/submit.ts',
        'deps.nowReal() < step.deadlineReal && deps.monotonicMs() < deadlineMonotonic',
        'step.deadlineReal + deadlineMonotonic > 0',
      ),
    ],
    test: ['activities/submit-body', 'stands still before its request'],
  }),
  guard('the first verdict of a request', {
    edits: [edit('src/ledger/dial/verdicts.ts', "\n    .where('verdict', 'is', null)")],
    test: ['ledger/rows/dialling', 'the first verdict of a POST stays'],
  }),
  guard('a verdict of its own entry', {
    edits: [
      edit(
        'src/ledger/dial/verdicts.ts',
        "\n    .$if(entry !== undefined, (query) => query.where('entry', '=', entry ?? ''))",
        "\n    .$if(entry === '', (query) => query.where('entry', '=', ''))",
      ),
    ],
    test: ['activities/lost-commit', 'another process with the same number'],
  }),
  guard('the lock of a campaign', {
    edits: [
      edit(locks, 'if (isPostgres(tx)) await sql`select 1 from campaigns where campaign_id = ${campaignId} for update`.execute(tx);'),
    ],
    aim: insideSubmit('pause'),
    test: ['ledger/people/edit-recipients', 'take turns'],
  }),
  guard('the lock of who writes to the do-not-call list', {
    edits: [edit(locks, 'if (isPostgres(tx)) await sql`select pg_advisory_xact_lock(${sql.lit(doNotCallLock)})`.execute(tx);')],
    aim: insideSubmit('suppress'),
    test: ['ledger/rows/locks-interleavings', 'a do-not-call entry that was confirmed'],
  }),
  guard('open calls and withdrawals', {
    edits: [
      edit(withdraw, "const isOpen = row.state === 'open' || open.has(row.recipient_id);", 'const isOpen = open.size < 0;'),
      edit(withdraw, "row.state === 'waiting' ? 'withdrawn'", "row.state !== 'done' ? 'withdrawn'"),
    ],
    aim: besideSubmit('withdraw'),
    test: ['ledger/people/edit-recipients', 'nobody is changed whose call is open'],
  }),
  guard('open calls and corrections', {
    edits: [
      edit(
        'src/ledger/people/edit-verdict.ts',
        "const hasCall = isOpen || target.state === 'open';",
        "const hasCall = isOpen && target.state === 'done';",
      ),
    ],
    aim: besideSubmit('update'),
    test: ['ledger/people/edit-recipients', 'nobody is changed whose call is open'],
  }),
  guard('withdrawn stays withdrawn', {
    edits: [
      edit('src/ledger/rows/settle.ts', "counts.isLatest && isLast && recipient.outcome !== 'cancelled'", 'counts.isLatest && isLast'),
    ],
    test: ['ledger/people/late-corrections', 'whom a person withdrew'],
  }),
  guard('an opt-out is a do-not-call entry', {
    edits: [
      edit('src/ledger/rows/settle.ts', 'await addSuppression(tx, { ...data, ...why }, now);', 'if (why.source === data.e164) return;'),
    ],
    worlds: ['two_campaigns'],
    test: ['ledger/campaign/settling', 'an opt-out heard in a call'],
  }),
  guard('one batch for one number', {
    edits: [
      edit(
        planning,
        "if (stored !== undefined) return { kind: 'batch', batchId: stored.batch_id, state: stored.state, size: stored.size };",
        'if (stored?.size === -1) return undefined;',
      ),
    ],
    aim: struck('calm', 'plan'),
    test: ['ledger/plan/planning', 'the same n always answers the same batch'],
  }),
  guard('no plan in a round that has ended', {
    edits: [edit(planning, "if ((await findRoundRow(tx, input))?.ended_at != null) return { kind: 'done' };")],
    aim: { scenarios: ['request lost'], kinds: ['stalled'], acts: ['plan'], operations: ['resolve'] },
    test: ['ledger/campaign/settling', 'a round closes when nothing is left to do'],
  }),
  guard('the end of a round', {
    edits: [
      edit(
        'src/ledger/campaign/rounds.ts',
        'if ((await nextDueAt(tx, campaignId)) !== null || isOutstanding(await countOutstanding(tx, campaignId))) return false;',
      ),
    ],
    aim: besideSubmit('close round'),
    test: ['ledger/collect/settle-and-sweeps', 'a round ends only when nothing of it is left'],
  }),
  guard('a talk ends its row', {
    edits: [edit('src/rules/talk-results.ts', " || (disposition === 'answered' && asks === null)")],
    test: ['ledger/collect/asked-calls', 'never followed by a call'],
  }),
  guard('only a complete record asks for a call', {
    edits: [edit('src/rules/correlation/record.ts', 'const isTalk = final && disposition?', 'const isTalk = disposition?')],
    worlds: ['mixed', 'listed_late', 'two_campaigns', 'stragglers'],
    test: ['ledger/collect/asked-calls', 'before the record has been read to its end'],
  }),
  guard('a running analysis asks for nothing', {
    edits: [edit('src/rules/correlation/record.ts', 'resultOfTalk(analysisIn(facts), ', 'resultOfTalk(facts, ')],
    worlds: ['restarted', 'barge_in', 'inbound', 'mixed'],
    test: ['ledger/collect/asked-calls', 'an analysis that still runs'],
  }),
  guard('a row waits for its record', {
    edits: [edit('src/ledger/collect/record-results.ts', ' && (row.final === 0 || becameFinal)', ' && row.final === 1 && becameFinal')],
    worlds: ['mixed', 'listed_late', 'two_campaigns', 'stragglers'],
    test: ['ledger/collect/asked-calls', 'before the record has been read to its end'],
  }),
  guard('only their own record asks for a call', {
    edits: [edit('src/ledger/doubt/dial-guard.ts', '(answersCount || row.asks !== null)', 'answersCount')],
    worlds: ['namesakes', 'altered', 'shortened', 'mixed', 'barge_in'],
    test: ['ledger/collect/asked-calls', 'somebody else’s'],
  }),
  guard('a promised number is left alone', {
    edits: [edit('src/rules/attempts/eligibility.ts', 'return at < until ? until : null;', 'return at < 0 ? until : null;')],
    test: ['ledger/people/callbacks', 'no other campaign calls the number before'],
  }),
  guard('no promise is kept late', {
    edits: [edit('src/rules/attempts/eligibility.ts', 'at >= until ? at : null', 'at < 0 ? at : null')],
    aim: {
      scenarios: ['asked to call back'],
      kinds: ['beside', 'clock set'],
      acts: ['plan', 'submit', 'sweep'],
      operations: ['submit', 'plan'],
    },
    test: ['ledger/people/callbacks', 'is not sent late'],
  }),
  guard('missed promises are told', {
    edits: [edit('src/ledger/plan/planning.ts', 'await settlePassedCallbacks(tx, campaign, input.now);')],
    aim: disturbed('asked to call back, and the service wants no calls then'),
    test: ['ledger/people/callbacks', 'late by habit'],
  }),
  guard('a promise is for after its talk', {
    edits: [edit('src/rules/callbacks/callback-time.ts', 'at <= toldAt || at + lateMs <= now', 'at + lateMs <= now')],
    test: ['ledger/people/callbacks', 'not called in a circle'],
  }),
];
