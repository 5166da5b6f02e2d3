import { edit, type Guard } from './guard.ts';

const lookUps = 'src/ledger/collect/look-ups.ts';
const withdrawals = 'src/ledger/plan/withdrawals.ts';
const calls = 'test/activities/reported-calls.test.ts';

/** What keeps the word of a service that reports its calls, lists its batches and gives calls back from being believed too soon. */
export const guardsOfReports: readonly Guard[] = [
  {
    name: 'report: an end without a conversation is looked at twice',
    keeps: 'A conversation may be named later than the end of its call.',
    edits: [edit('src/ledger/collect/reported.ts', ' || overAt === null || now < overAt + secondLookMs || (await', ' || (await')],
    api: 'batch-calling',
    worlds: ['named_late'],
  },
  {
    name: 'look-up: not before the request can have arrived',
    keeps: 'A request that hangs may be carried out after a look-up has not found it.',
    edits: [edit(lookUps, '    if (!isOver) return;\n', '    if (!isOver && now < 0) return;\n')],
    api: 'batch-calling',
    worlds: [],
    test: { file: calls, name: 'not before it could have arrived' },
  },
  {
    name: 'look-up: only a key is certain',
    keeps: 'That a list does not show a request never means that it will not be carried out.',
    edits: [edit('src/service/batch-calling/find-marked.ts', "{ kind: 'absent', certain: false }", "{ kind: 'absent', certain: true }")],
    api: 'batch-calling',
    worlds: ['lagging', 'mixed'],
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
];
