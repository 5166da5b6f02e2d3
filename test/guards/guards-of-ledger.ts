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

/** What keeps two processes, or two moments of one, from dialling twice. */
export const guardsOfLedger: readonly Guard[] = [
  guard('unique index attempts_one_open', 'The database refuses two open calls to one number, whatever planned them.', {
    edits: [edit('src/ledger/migrations.ts', 'create unique index attempts_one_open', 'create index attempts_one_open')],
    test: ['ledger/doubt/guards', 'open call to a number'],
  }),
  guard(
    'unique index attempts_one_wording',
    'The database refuses two open calls of one agent with the same words, whatever planned them.',
    {
      edits: [noWordingIndex],
      test: ['ledger/doubt/guards', 'open call with the same words'],
    },
  ),
  guard(
    'free words in the planner',
    'A recipient with the words of an open call waits. The index alone keeps the promise, with emptier batches.',
    {
      edits: plannerWithoutWords,
      test: ['ledger/doubt/guards', 'leaves no place empty'],
    },
  ),
  guard(
    'words kept apart, by index and planner',
    'Two calls that the records could not tell apart are never open together; otherwise an operator would have to decide.',
    {
      edits: [noWordingIndex, ...plannerWithoutWords, overlapping],
      worlds: ['namesakes', 'one_line', 'two_campaigns', 'mixed'],
      test: ['ledger/doubt/guards', 'the same words are never open together'],
    },
  ),
  guard('lines that begin one another', 'Two calls are never open together if the line of one begins with the line of the other.', {
    edits: [overlapping],
    test: ['ledger/doubt/guards', 'begins that of another'],
  }),
  guard('compare-and-set of batches', 'If two processes move a batch, only one succeeds.', {
    edits: [edit('src/ledger/batch-state.ts', 'return numAffectedRows === 1n;', 'return true;')],
    aim: besideSubmit('submit'),
    worlds: ['mixed', 'namesakes'],
    test: ['ledger/dial/posting', 'whoever enters a batch second never sends it'],
  }),
  guard('states from which a batch may move', 'A process that finds a batch which another one was about to send does not send it.', {
    edits: [edit('src/ledger/batch-state.ts', "\n        .where('state', 'in', legal.split(' ') as BatchState[])")],
    aim: besideSubmit('submit'),
    worlds: ['mixed', 'namesakes', 'listed_late'],
    test: ['ledger/dial/posting', 'whoever enters a batch second never sends it'],
  }),
  guard(
    'the second entry makes it unknown',
    'A batch whose process died before the answer to its POST counts as placed, and does not stay in posting.',
    {
      edits: [edit(posting, "if (batch.state === 'posting') await enterUnknown(tx, batch, input.now);")],
      aim: struck('calm', 'submit'),
      worlds: ['mixed', 'namesakes', 'listed_late'],
      test: ['ledger/dial/posting', 'whoever enters a batch second never sends it'],
    },
  ),
  guard('do-not-call in the dial transaction', 'Recipients who opted out after planning are not dialled.', {
    edits: [edit('src/ledger/plan/candidates.ts', "suppressed: suppressed.get(row.e164 ?? '') === 'suppressed',", 'suppressed: false,')],
    aim: besideSubmit('suppress'),
    worlds: ['two_campaigns'],
    test: ['ledger/rows/dialling', 'a suppression added after planning'],
  }),
  guard('consent in the dial transaction', 'Whose consent is missing, too old or not given yet is not dialled.', {
    edits: [
      edit('src/ledger/plan/candidates.ts', 'consent: consentSpan(rules.consent, laterTermsOf(row).consentedAt),', 'consent: undefined,'),
    ],
    test: ['ledger/plan/consent', 'a consent that expires between plan and request is not dialled'],
  }),
  guard('consent that is taken back', 'Who takes consent back for a purpose after planning is not dialled for it.', {
    edits: [edit('src/ledger/plan/candidates.ts', "revoked: suppressed.get(row.e164 ?? '') === 'consent_revoked',", 'revoked: false,')],
    aim: besideSubmit('revoke', 'consent taken back'),
    test: ['ledger/plan/consent', 'consent that is taken back between plan and request is not dialled'],
  }),
  guard('house rules', 'Every campaign is held to the caps, hours and limits of the house besides its own, from their commit on.', {
    edits: [
      edit(
        'src/ledger/rows/campaigns.ts',
        'underHouse(adjusted(readRules(row.rules), row.adjustments), row.house),',
        'adjusted(readRules(row.rules), row.adjustments),',
      ),
    ],
    aim: disturbed('house rules'),
    test: ['ledger/limits/house', 'a tighter rule holds for what is planned already'],
  }),
  guard('what the house requires', 'A campaign without what the house rules require calls nobody, whatever was planned.', {
    edits: [
      edit('src/ledger/dial/posting.ts', 'if (lacksOfHouse(campaign.rules).length > 0)', 'if (lacksOfHouse(campaign.rules).length > 9)'),
    ],
    test: ['ledger/limits/house', 'a campaign without what is required calls nobody more'],
  }),
  guard('room of a number for call backs', 'The last calls that a number may make are kept for call backs that are due.', {
    edits: [edit('src/rules/caller-choice.ts', 'Math.min(keptFor(limits, calls, now, promised), found.room)', 'found.room')],
    test: ['ledger/limits/caller-room', 'a number that may make one more call keeps it for the call back'],
  }),
  guard('reached since planning', 'Recipients whom a late record shows as reached are removed from a planned batch.', {
    edits: [edit(sorting, 'if (earlier != null) {', "if (earlier === 'busy') {")],
    test: ['ledger/doubt/guards', 'shown as reached after the plan'],
  }),
  guard('the wait while a batch is unknown', 'Nothing is sent until the list has been read again and the back-off has passed.', {
    edits: [edit('src/ledger/limits/safety.ts', 'return until > now ? until : null;', 'return null;')],
    test: ['ledger/rows/dialling', 'while a batch is unknown nothing is sent'],
  }),
  guard('a final record settles its call', 'A record that became final while it was being matched settles its call at the next sweep.', {
    edits: [edit(matching, '  await settleLeftOpen(tx, agentId, now);\n  const', '  const')],
    test: ['ledger/locks-settings', 'an open attempt whose record is final'],
  }),
  guard('claims are current', 'A record that was matched while it was being read is settled under the lock of its campaign.', {
    edits: [
      edit(
        'src/ledger/collect/record-results.ts',
        'if (written.attempt_id !== locked) throw',
        'if (written.attempt_id === `${locked} by another`) throw',
      ),
    ],
    test: ['ledger/collect/locks-records', 'a record that gets its owner'],
  }),
  guard('a late confirmation of a batch in redial', 'It cancels the planned redials.', {
    edits: [
      edit('src/ledger/dial/verdicts.ts', "if (batch.state === 'redial' || batch.state === 'held') await callOffRedial(tx, batch, now);"),
    ],
    test: ['ledger/doubt/guards', 'a late yes'],
  }),
  guard('retry leaves doubt alone', 'Rows whose calls cannot be told apart are retried only after a decision about the row.', {
    edits: [edit('src/ledger/people/retry-ended.ts', "'not in', [withdrawnReason, notToldApart]", "'not in', [withdrawnReason]")],
    test: ['ledger/doubt/guards', 'a retry leaves'],
  }),
  guard('wishes by id', 'A requested change that is repeated after a reset of the workflow changes nothing.', {
    edits: [edit('src/ledger/control-requests.ts', 'wish_id: wish?.id ?? randomUUID(),', 'wish_id: randomUUID(),')],
    test: ['ledger/control-requests', 'a wish that comes again'],
  }),
  guard('wishes in their order', 'A resume that arrives late does not undo a later pause.', {
    edits: [edit('src/ledger/control-requests.ts', 'return later !== undefined;', 'return false;')],
    test: ['ledger/control-requests', 'a resume'],
  }),
  guard('the witness', 'A request that Temporal knows, but the database does not, is not sent again.', {
    edits: [edit(posting, 'if (batch.posts < witnessed) throw olderWhileSubmitting(batchId, witnessed);')],
    test: ['activities/request-notes', 'a request that the server knows of'],
  }),
  guard('no POST without a witness', 'Nothing is sent unless Temporal has recorded the intention.', {
    edits: [edit('activities/submit.ts', '(await findUnnoted(submitting, step.k)) ?? ')],
    test: ['activities/request-notes', 'nothing is sent while Temporal does not'],
  }),
  guard('the lock of the do-not-call list', 'Every dial sees the entries that were committed before it.', {
    edits: [edit('src/ledger/locks.ts', 'await sql`select pg_advisory_xact_lock_shared(${sql.lit(doNotCallLock)})`.execute(tx);')],
    aim: insideSubmit('suppress'),
    test: ['ledger/rows/locks-interleavings', 'a do-not-call entry that was confirmed'],
  }),
  guard('the lock of recipients', 'Campaigns that dial the same recipients at the same moment keep a shared cap.', {
    edits: [edit(posting, 'await lockPeople(tx, campaign.rules.caps, batchId);')],
    test: ['ledger/rows/at-once', 'campaigns that dial the same people'],
  }),
  guard('READ COMMITTED, pinned', 'Transactions see what others have committed, whatever the default of the database.', {
    edits: [edit('src/ledger/postgres-dialect.ts', 'begin isolation level read committed read write; select', 'begin; select')],
    test: ['ledger/locks-settings', ''],
  }),
  guard('a lost answer to the commit', 'A process that knows that it sent nothing records it, so no operator has to decide.', {
    edits: [edit(posting, "if (entered?.kind === 'post') return { kind: 'unsure', k: entered.k, entry, error };")],
    test: ['activities/lost-commit', 'nobody waits for a person'],
  }),
];
