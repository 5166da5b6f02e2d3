import { besideSubmit, disturbed, insideSubmit, struck } from '../chaos/aim.ts';
import { edit, guard, type Guard } from './guard.ts';

const posting = 'src/ledger/dial/posting.ts';
const sorting = 'src/ledger/dial/sort-attempts.ts';
const matching = 'src/ledger/collect/matching.ts';
const sharedWords = 'src/ledger/doubt/shared-words.ts';

const noWordingIndex = edit('src/ledger/migrations.ts', 'create unique index attempts_one_wording', 'create index attempts_one_wording');
const plannerWithoutWords = [
  edit(
    sharedWords,
    `return sql<boolean>\`(recipients.words_key is null or not exists (
    select 1 from attempts where attempts.agent_id = \${agentId} and attempts.words_key = recipients.words_key
      and attempts.state in (\${sqlStates(openAttemptStates)})))\`;`,
    'return sql<boolean>`(${agentId} is not null)`;',
  ),
  edit('src/ledger/plan/candidates.ts', 'row.words_key !== null && words.has(row.words_key)', 'words.size < 0'),
];
const overlapping = edit(
  'src/ledger/plan/planning.ts',
  'wordsKept ? await findOverlapping(tx, together) : { ids: [], until: input.now }',
  '{ ids: [] as string[], until: input.now }',
);

/** Keep two processes, or two moments of one, from dialling twice. */
export const guardsOfLedger: readonly Guard[] = [
  guard('unique index attempts_one_open', {
    edits: [edit('src/ledger/migrations.ts', 'create unique index attempts_one_open', 'create index attempts_one_open')],
    test: ['ledger/doubt/guards', 'open call to a number'],
  }),
  guard('unique index attempts_one_wording', {
    edits: [noWordingIndex],
    test: ['ledger/doubt/guards', 'open call with the same words'],
  }),
  guard('free words in the planner', {
    edits: plannerWithoutWords,
    test: ['ledger/doubt/guards', 'leaves no place empty'],
  }),
  guard('words kept apart, by index and planner', {
    edits: [noWordingIndex, ...plannerWithoutWords, overlapping],
    worlds: ['namesakes', 'one_line', 'two_campaigns', 'mixed'],
    test: ['ledger/doubt/guards', 'the same words are never open together'],
  }),
  guard('lines that begin one another', {
    edits: [overlapping],
    test: ['ledger/doubt/guards', 'begins that of another'],
  }),
  guard('compare-and-set of batches', {
    edits: [edit('src/ledger/batch-state.ts', 'return numAffectedRows === 1n;', 'return true;')],
    aim: besideSubmit('submit'),
    worlds: ['mixed', 'namesakes'],
    test: ['ledger/dial/posting', 'whoever enters a batch second never sends it'],
  }),
  guard('states from which a batch may move', {
    edits: [edit('src/ledger/batch-state.ts', "\n        .where('state', 'in', legal.split(' ') as BatchState[])")],
    aim: besideSubmit('submit'),
    worlds: ['mixed', 'namesakes', 'listed_late'],
    test: ['ledger/dial/posting', 'whoever enters a batch second never sends it'],
  }),
  guard('the second entry makes it unknown', {
    edits: [edit(posting, "if (batch.state === 'posting') await enterUnknown(tx, batch, input.now);")],
    aim: struck('calm', 'submit'),
    worlds: ['mixed', 'namesakes', 'listed_late'],
    test: ['ledger/dial/posting', 'whoever enters a batch second never sends it'],
  }),
  guard('do-not-call in the dial transaction', {
    edits: [edit('src/ledger/plan/candidates.ts', "suppressed: suppressed.get(row.e164 ?? '') === 'suppressed',", 'suppressed: false,')],
    aim: besideSubmit('suppress'),
    worlds: ['two_campaigns'],
    test: ['ledger/rows/dialling', 'a suppression added after planning'],
  }),
  guard('consent in the dial transaction', {
    edits: [
      edit('src/ledger/plan/candidates.ts', 'consent: consentSpan(rules.consent, laterTermsOf(row).consentedAt),', 'consent: undefined,'),
    ],
    test: ['ledger/plan/consent', 'a consent that expires between plan and request is not dialled'],
  }),
  guard('consent that is taken back', {
    edits: [edit('src/ledger/plan/candidates.ts', "revoked: suppressed.get(row.e164 ?? '') === 'consent_revoked',", 'revoked: false,')],
    aim: besideSubmit('revoke', 'consent taken back'),
    test: ['ledger/plan/consent', 'consent that is taken back between plan and request is not dialled'],
  }),
  guard('house rules', {
    edits: [
      edit(
        'src/ledger/rows/campaigns.ts',
        'underAccountRules(adjusted(readRules(row.rules), row.adjustments), row.house),',
        'adjusted(readRules(row.rules), row.adjustments),',
      ),
    ],
    aim: disturbed('house rules'),
    test: ['ledger/limits/house', 'a tighter rule holds for what is planned already'],
  }),
  guard('what the house requires', {
    edits: [
      edit(
        'src/ledger/dial/posting.ts',
        'if (missingRequirements(campaign.rules).length > 0)',
        'if (missingRequirements(campaign.rules).length > 9)',
      ),
    ],
    test: ['ledger/limits/house', 'a campaign without what is required calls nobody more'],
  }),
  guard('room of a number for call backs', {
    edits: [edit('src/rules/caller-choice.ts', 'Math.min(keptFor(limits, calls, now, callbacks), found.room)', 'found.room')],
    test: ['ledger/limits/caller-room', 'a number that may make one more call keeps it for the call back'],
  }),
  guard('reached since planning', {
    edits: [edit(sorting, 'if (earlier != null) {', "if (earlier === 'busy') {")],
    test: ['ledger/doubt/guards', 'shown as reached after the plan'],
  }),
  guard('the wait while a batch is unknown', {
    edits: [edit('src/ledger/limits/safety.ts', 'return until > now ? until : null;', 'return null;')],
    test: ['ledger/rows/dialling', 'while a batch is unknown nothing is sent'],
  }),
  guard('a final record settles its call', {
    edits: [edit(matching, '  await settleLeftOpen(tx, agentId, now);\n  const', '  const')],
    test: ['ledger/locks-settings', 'an open attempt whose record is final'],
  }),
  guard('claims are current', {
    edits: [
      edit(
        'src/ledger/collect/record-results.ts',
        'if (written.attempt_id !== locked) throw',
        'if (written.attempt_id === `${locked} by another`) throw',
      ),
    ],
    test: ['ledger/collect/locks-records', 'a record that gets its owner'],
  }),
  guard('a late confirmation of a batch in redial', {
    edits: [
      edit('src/ledger/dial/verdicts.ts', "if (batch.state === 'redial' || batch.state === 'held') await callOffRedial(tx, batch, now);"),
    ],
    test: ['ledger/doubt/guards', 'a late yes'],
  }),
  guard('retry leaves doubt alone', {
    edits: [edit('src/ledger/people/retry-ended.ts', "'not in', [withdrawnReason, notToldApart]", "'not in', [withdrawnReason]")],
    test: ['ledger/doubt/guards', 'a retry leaves'],
  }),
  guard('wishes by id', {
    edits: [edit('src/ledger/control-requests.ts', 'wish_id: request?.id ?? randomUUID(),', 'wish_id: randomUUID(),')],
    test: ['ledger/control-requests', 'a wish that comes again'],
  }),
  guard('wishes in their order', {
    edits: [edit('src/ledger/control-requests.ts', 'return later !== undefined;', 'return false;')],
    test: ['ledger/control-requests', 'a resume'],
  }),
  guard('the witness', {
    edits: [edit(posting, 'if (batch.posts < witnessed) throw olderWhileSubmitting(batchId, witnessed);')],
    test: ['activities/request-notes', 'a request that the server knows of'],
  }),
  guard('no POST without a witness', {
    edits: [edit('activities/submit.ts', '(await findUnnoted(submitting, step.k)) ?? ')],
    test: ['activities/request-notes', 'nothing is sent while Temporal does not'],
  }),
  guard('the lock of the do-not-call list', {
    edits: [edit('src/ledger/locks.ts', 'await sql`select pg_advisory_xact_lock_shared(${sql.lit(doNotCallLock)})`.execute(tx);')],
    aim: insideSubmit('suppress'),
    test: ['ledger/rows/locks-interleavings', 'a do-not-call entry that was confirmed'],
  }),
  guard('the lock of recipients', {
    edits: [edit(posting, 'await lockPeople(tx, campaign.rules.caps, batchId);')],
    test: ['ledger/rows/row-fault', 'campaigns that dial the same people'],
  }),
  guard('READ COMMITTED, pinned', {
    edits: [edit('src/ledger/postgres-dialect.ts', 'begin isolation level read committed read write; select', 'begin; select')],
    test: ['ledger/locks-settings', ''],
  }),
  guard('a lost answer to the commit', {
    edits: [edit(posting, "if (entered?.kind === 'post') return { kind: 'unsure', k: entered.k, entry, error };")],
    test: ['activities/lost-commit', 'nobody waits for a person'],
  }),
];
