import { edit, guard, type Guard } from './guard.ts';

const reported = 'src/ledger/collect/reported.ts';
const lookUps = 'src/ledger/collect/look-ups.ts';
const withdrawals = 'src/ledger/plan/withdrawals.ts';
const lookUp = 'activities/look-up.ts';
const keyed = 'src/service/published/campaigns.ts';
const marked = 'src/service/published/batch-calling.ts';
const sent = 'src/service/sent-events.ts';
const calls = 'activities/reported-calls';
const caught = 'activities/reported-guards';
const campaignsTest = 'service/campaigns';
const batchesTest = 'service/batch-calling';
const webhooks = 'interfaces/api/service-webhooks';

/** What keeps the word of a service that reports its calls, lists its batches and gives calls back from being believed too soon. */
export const guardsOfReports: readonly Guard[] = [
  guard('report: an entry with another number', "What is said of a number that is not the call's settles nothing.", {
    edits: [edit(reported, ' || (report.to !== null && report.to !== attempt.e164)', '')],
    api: 'batch-calling',
    worlds: ['untrue'],
    test: [caught, 'the names of each other'],
  }),
  guard('report: an entry under a name that is none of ours', 'It is not taken for the call to the same number.', {
    edits: [
      edit(
        reported,
        'report.ref === null ? undefined : named.get(report.ref)',
        "named.get(report.ref ?? '') ?? attempts.find((one) => one.e164 === report.to)",
      ),
    ],
    test: [caught, 'names that are none of ours'],
  }),
  guard('report: who is missing in it', 'A call that a report leaves out has not ended.', {
    edits: [
      edit(
        reported,
        'const [report, ...others] = seen.get(attempt) ?? [];',
        "const missing: CallReport = { ref: attempt.reference, to: null, state: 'over', conversationId: null, result: 'failed' };\n    const [report, ...others] = seen.get(attempt) ?? [missing];",
      ),
    ],
    api: 'batch-calling',
    worlds: ['untrue'],
    test: [calls, 'two recipients left out'],
  }),
  guard('report: an end without a conversation is looked at twice', 'A conversation may be named later than the end of its call.', {
    edits: [edit(reported, ' || overAt === null || now < overAt + secondLookMs || (await', ' || (await')],
    api: 'batch-calling',
    worlds: ['named_late'],
  }),
  guard('report: a record speaks for itself', "A conversation is its call's own only once its record was read and contradicts nothing.", {
    edits: [edit('src/ledger/collect/matching.ts', 'facts.reported !== undefined && row.reads === 0 && row.gone === 0', 'false')],
    test: [calls, 'conversations that their records contradict'],
  }),
  guard('report: called again by somebody else', 'A batch that the service was told to call again (`retry_count`) pauses its campaign.', {
    edits: [edit(reported, 'if (reports.some(({ again }) => again === true)) await', 'if (now < 0) await')],
    test: [caught, 'somebody else has the service call again'],
  }),
  guard(
    'look-up: not before the request can have arrived, in both places',
    'A request that hangs may be carried out after a look-up has not found it.',
    {
      edits: [
        edit(lookUps, '    if (!isOver) return;\n', '    if (!isOver && now < 0) return;\n'),
        edit(lookUps, '(agent?.swept_begun_at ?? 0) > overAt && ', ''),
      ],
      test: [calls, 'not before it could have arrived'],
    },
  ),
  guard('look-up: twice, as far apart as lists lag', 'A list that does not show a request is not relied on before it would.', {
    edits: [edit(lookUps, '    if (begunAt < since + Math.max(secondLookMs, listPatienceMs(provenLagMs))) return;\n', '')],
    test: [caught, 'as long as lists lag'],
  }),
  guard('look-up: a record that nobody has read', 'It may be of the request that is not listed.', {
    edits: [
      edit(lookUps, 'if ((await isOpen.limit(1).executeTakeFirst()) !== undefined) return;', 'await isOpen.limit(1).executeTakeFirst();'),
    ],
    api: 'batch-calling',
    worlds: ['unlisted'],
  }),
  guard('look-up: a record that names one of its calls', 'It outranks any list.', {
    edits: [edit(lookUps, 'const evidence = await findEvidenceFor(tx, batch, missing);', 'const evidence = null;')],
    test: [caught, 'the list of conversations is asked'],
  }),
  guard('look-up: only a key is certain', 'That a list does not show a request never means that it will not be carried out.', {
    edits: [edit(marked, "{ kind: 'absent', certain: false }", "{ kind: 'absent', certain: true }")],
    api: 'batch-calling',
    worlds: ['lagging', 'mixed'],
  }),
  guard('look-up: what cannot be read', 'An entry without a name may be the request.', {
    edits: [edit(marked, '?? (isWhole ?', '?? (ids.size === 0 ?')],
    test: [batchesTest, 'not_readable'],
  }),
  guard('look-up: a request that is there twice', 'Its campaign pauses, and a person decides.', {
    edits: [
      edit(
        lookUps,
        "else if (found.kind === 'several') await stopTwice(tx, batch, now);",
        "else if (found.kind === 'several')\n    await confirmBatch(tx, batch, { acceptedBy: 'look_up', serviceBatchId: found.serviceBatchIds[0] ?? '', now });",
      ),
    ],
    test: [calls, 'carried out twice'],
  }),
  guard('fence: the hold of a service that asked to wait', 'No fence is sent before that.', {
    edits: [edit(lookUp, "deps.service.abilities.lookUp === 'key' && begunAt < notBefore", 'begunAt < notBefore && begunAt < 0')],
    test: [caught, 'told to wait'],
  }),
  guard('fence: what its 429 asks for', 'The account waits as after any request.', {
    edits: [edit(lookUp, 'if (waitMs > 0) await', 'if (waitMs < 0) await')],
    test: [caught, 'told to wait'],
  }),
  guard("fence: the caller's own number", 'A fence that is carried out all the same calls the number that calls, and no person.', {
    edits: [edit(keyed, '.find(({ id }) => id === callerId)?', '.at(0)?')],
    test: [campaignsTest, 'calls nobody but the number that calls'],
  }),
  guard('fence: told from the request by its date', 'What is named like one of the two and dated like the other is neither.', {
    edits: [
      edit(
        keyed,
        '  if (isAhead !== isNamedFence) return null;\n  return isAhead ?',
        '  if (isAhead !== isNamedFence && created < 0) return null;\n  return isNamedFence ?',
      ),
    ],
    test: [campaignsTest, 'the list shows one in its name'],
  }),
  guard('fence: stopped before it counts', 'A fence that goes on may call its number, and proves nothing.', {
    edits: [edit(keyed, 'kind === null || !(await stop(transport, id))', 'kind === null')],
    test: [campaignsTest, 'the fence cannot be stopped'],
  }),
  guard('fence: a key older than twelve hours', 'A service may have forgotten it: that it is free proves nothing.', {
    edits: [edit(keyed, '(met.created_at_unix ?? Infinity) * 1_000 - since <= keyKeptMs', 'true')],
    test: [campaignsTest, 'the key is free so late'],
  }),
  guard(
    'withdrawal: of a campaign that does not dial',
    'What waits at the service does not ring after a pause, a cancellation or a drain.',
    {
      edits: [edit(withdrawals, "if (state !== 'running' &&", "if (state === 'draft' &&")],
      api: 'batch-calling',
      worlds: ['paused'],
      test: [calls, 'a pause takes back what waits'],
    },
  ),
  guard(
    'withdrawal: of who must not be called any more',
    'A do-not-call entry, the end of the hours and the end of the campaign reach calls that wait.',
    {
      edits: [edit(withdrawals, "verdict.verdict === 'dial' ? []", "verdict.verdict === 'dial' || now > 0 ? []")],
      api: 'campaigns',
      worlds: ['suppressed', 'closing'],
      test: [calls, 'an entry on the do-not-call list stops a call'],
    },
  ),
  guard('withdrawal: ahead of the end by a ring', 'Nothing rings after the end of the hours.', {
    edits: [edit(withdrawals, 'marginMs: ringLimitMs + 2 * pollMs', 'marginMs: 0')],
    api: 'campaigns',
    worlds: ['closing'],
  }),
  guard('withdrawal: noted before it is asked for', 'One whose answer is lost was asked for all the same.', {
    edits: [
      edit(
        'activities/report.ts',
        '  await deps.store.transaction((tx) => noteWithdrawing(tx, { campaignId, now }, { batchId, reason }));\n  const isWhole',
        '  const isWhole',
      ),
      edit(
        'activities/report.ts',
        '  deps.logger.info({ batchId, reason, calls:',
        '  await deps.store.transaction((tx) => noteWithdrawing(tx, { campaignId, now }, { batchId, reason }));\n  deps.logger.info({ batchId, reason, calls:',
      ),
    ],
    test: [caught, 'whose answer is lost'],
  }),
  guard('withdrawal: only what was asked back', 'What somebody else took back counts as a call.', {
    edits: [edit(reported, "report.state === 'withdrawn' && batch.withdraw_asked_at !== null &&", "report.state === 'withdrawn' &&")],
    test: [caught, 'what nobody here asked back'],
  }),
  guard('withdrawal: who has a conversation', 'They are not released, whatever the report calls them.', {
    edits: [
      edit(
        reported,
        'if (report.conversationId !== null) return',
        "if (report.conversationId !== null && report.state !== 'withdrawn') return",
      ),
    ],
    api: 'batch-calling',
    worlds: ['paused'],
  }),
  guard('withdrawal: who was reported to ring', 'They are not released: it was a call.', {
    edits: [edit(reported, ' && rangAt === null) {', ') {')],
    test: [calls, 'reported to ring before it was taken back'],
  }),
  guard('a request says how many of its calls may be open', 'A service with a queue of its own opens no more of them at once.', {
    edits: [
      edit(
        'src/service/published/parts.ts',
        'concurrency === null ? {} : { target_concurrency_limit: concurrency }',
        'concurrency === null ? {} : {}',
      ),
    ],
    test: [caught, 'as many calls as the service has lines'],
  }),
  guard("another API than the campaign's", 'A worker with another one does nothing for the campaign: nothing there shows its calls.', {
    edits: [edit('src/rules/service-api.ts', 'campaign.api === own.api && ', '')],
    test: ['activities/other-service', 'by another API'],
  }),
  guard('webhook: the signature', 'What the service did not sign is not stored.', {
    edits: [edit(sent, "if (!isSigned) return { fault: 'wrong' };", "if (!isSigned && now < 0) return { fault: 'wrong' };")],
    test: [webhooks, 'what the service did not sign'],
  }),
  guard('webhook: the replay window', 'What was signed more than half an hour ago, or ahead, is refused.', {
    edits: [edit(sent, 'Math.abs(now - signedAt) > signatureLastsMs', 'now < 0')],
    test: [webhooks, 'what the service did not sign'],
  }),
  guard('webhook: the same again', 'What comes twice is no second look at a record.', {
    edits: [
      edit(
        'src/ledger/doubt/conversations.ts',
        '  if (row.unchanged_since !== null && reading.now <= row.unchanged_since) return undefined;\n  if (readOver(row, reading.facts).unchanged) return undefined;\n',
        '',
      ),
    ],
    test: [webhooks, 'however late or often it was sent'],
  }),
];
