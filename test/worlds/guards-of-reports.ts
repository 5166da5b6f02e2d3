import { edit, type Guard } from './guard.ts';

const reported = 'src/ledger/collect/reported.ts';
const lookUps = 'src/ledger/collect/look-ups.ts';
const withdrawals = 'src/ledger/plan/withdrawals.ts';
const calls = 'test/activities/reported-calls.test.ts';

/** What keeps the word of a service that reports its calls, lists its batches and gives calls back from being believed too soon. */
export const guardsOfReports: readonly Guard[] = [
  {
    name: 'report: the number of an entry',
    keeps: 'An entry with another number than the call settles nothing.',
    edits: [edit(reported, ' || (report.to !== null && report.to !== attempt.e164)')],
    api: 'batch-calling',
    worlds: [],
    test: { file: calls, name: 'settles nothing by it, and calls nobody twice' },
  },
  {
    name: 'report: an end without a conversation is looked at twice',
    keeps: 'A conversation may be named later than the end of its call.',
    edits: [
      edit(reported, '  if (silentSince === null) return updateAttempt(tx, attemptId, { silent_end_at: now });\n'),
      edit(reported, 'now < silentSince + secondLookMs || (await', '(await'),
    ],
    api: 'batch-calling',
    worlds: ['named_late'],
  },
  {
    name: 'look-up: not before the request can have arrived',
    keeps: 'A request that hangs may be carried out after a look-up has not found it.',
    edits: [edit(lookUps, '    if (!isOver) return;\n', '    if (!isOver && now < 0) return;\n')],
    api: 'batch-calling',
    worlds: ['lagging', 'mixed'],
  },
  {
    name: 'look-up: two, as far apart as the list lags',
    keeps: 'One list that does not show a request proves nothing.',
    edits: [
      edit(lookUps, '    if (since === null) return updateBatch(tx, batchId, { not_found_at: begunAt });\n'),
      edit(
        lookUps,
        '    if (begunAt < since + Math.max(secondLookMs, listPatienceMs(provenLagMs))) return;\n',
        '    if (batchId === String(since)) return;\n',
      ),
    ],
    api: 'batch-calling',
    worlds: ['lagging'],
  },
  {
    name: 'look-up: a record outranks the list',
    keeps: 'Nobody is released of a batch of which a record is there.',
    edits: [
      edit(
        lookUps,
        '  if (await findEvidenceFor(tx, batch, missing)) return;\n',
        '  if (now < 0) await findEvidenceFor(tx, batch, missing);\n',
      ),
    ],
    api: 'batch-calling',
    worlds: ['unlisted'],
  },
  {
    name: 'look-up: only a key is certain',
    keeps: 'That a list does not show a request never means that it will not be carried out.',
    edits: [edit('src/service/batch-calling/find-marked.ts', "{ kind: 'absent', certain: false }", "{ kind: 'absent', certain: true }")],
    api: 'batch-calling',
    worlds: ['lagging', 'mixed'],
  },
  {
    name: 'look-up: patience after a refusal',
    keeps: 'A refused request is not sent again before the list can show that it was carried out.',
    edits: [edit('activities/look-up.ts', 'begunAt >= (request.answeredAt ?? Infinity) + patienceMs', 'begunAt + patienceMs > 0')],
    api: 'batch-calling',
    worlds: ['refused'],
  },
  {
    name: 'withdrawal: of a campaign that does not dial',
    keeps: 'What waits at the service does not ring after a pause, a cancellation or a drain.',
    edits: [edit(withdrawals, "if (campaign.state !== 'running')", "if (campaign.state === 'draft')")],
    api: 'batch-calling',
    worlds: ['paused'],
    test: { file: calls, name: 'a pause takes back what waits' },
  },
  {
    name: 'withdrawal: of who must not be called any more',
    keeps: 'A do-not-call entry, the end of the hours and the end of the campaign reach calls that wait.',
    edits: [edit(withdrawals, 'if (first === undefined) return null;', 'if (first === undefined || now > 0) return null;')],
    api: 'campaigns',
    worlds: ['suppressed', 'closing'],
    test: { file: calls, name: 'an entry on the do-not-call list stops a call' },
  },
  {
    name: 'withdrawal: ahead of the end',
    keeps: 'The service hears of it before a telephone could ring too late.',
    edits: [edit(withdrawals, 'marginMs: ringLimitMs + 2 * pollMs', 'marginMs: 0 * (ringLimitMs + pollMs)')],
    api: 'batch-calling',
    worlds: ['closing'],
  },
];
