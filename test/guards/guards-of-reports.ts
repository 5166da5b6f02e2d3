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

/** Keep early reports, batch lists and withdrawals of a service from being believed. */
export const guardsOfReports: readonly Guard[] = [
  guard('report: an entry with another number', {
    edits: [edit(reported, ' || (report.to !== null && report.to !== attempt.e164)', '')],
    api: 'batch-calling',
    worlds: ['untrue'],
    test: [caught, 'the names of each other'],
  }),
  guard('report: an entry under a name that is none of ours', {
    edits: [
      edit(
        reported,
        'report.ref === null ? undefined : named.get(report.ref)',
        "named.get(report.ref ?? '') ?? attempts.find((one) => one.e164 === report.to)",
      ),
    ],
    test: [caught, 'names that are none of ours'],
  }),
  guard('report: who is missing in it', {
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
  guard('report: an end without a conversation is looked at twice', {
    edits: [edit(reported, ' || overAt === null || now < overAt + secondReportMs || (await', ' || (await')],
    api: 'batch-calling',
    worlds: ['named_late'],
  }),
  guard('report: a record speaks for itself', {
    edits: [edit('src/ledger/collect/matching.ts', 'facts.reported !== undefined && row.reads === 0 && row.gone === 0', 'false')],
    test: [calls, 'conversations that their records contradict'],
  }),
  guard('report: called again by somebody else', {
    edits: [edit(reported, 'if (reports.some(({ again }) => again === true)) await', 'if (now < 0) await')],
    test: [caught, 'somebody else has the service call again'],
  }),
  guard('look-up: not before the request can have arrived, in both places', {
    edits: [
      edit(lookUps, '    if (!isOver) return;\n', '    if (!isOver && now < 0) return;\n'),
      edit(lookUps, '(agent?.swept_begun_at ?? 0) > overAt && ', ''),
    ],
    test: [calls, 'not before it could have arrived'],
  }),
  guard('look-up: twice, as far apart as lists lag', {
    edits: [edit(lookUps, '    if (begunAt < since + Math.max(secondLookUpMs, listPatienceMs(provenLagMs))) return;\n', '')],
    test: [caught, 'as long as lists lag'],
  }),
  guard('look-up: a record that nobody has read', {
    edits: [
      edit(lookUps, 'if ((await isOpen.limit(1).executeTakeFirst()) !== undefined) return;', 'await isOpen.limit(1).executeTakeFirst();'),
    ],
    api: 'batch-calling',
    worlds: ['unlisted'],
  }),
  guard('look-up: a record that names one of its calls', {
    edits: [edit(lookUps, 'const evidence = await findEvidenceFor(tx, batch, missing);', 'const evidence = null;')],
    test: [caught, 'the list of conversations is asked'],
  }),
  guard('look-up: only a key is certain', {
    edits: [edit(marked, "{ kind: 'absent', certain: false }", "{ kind: 'absent', certain: true }")],
    api: 'batch-calling',
    worlds: ['lagging', 'mixed'],
  }),
  guard('look-up: what cannot be read', {
    edits: [edit(marked, '?? (isWhole ?', '?? (ids.size === 0 ?')],
    test: [batchesTest, 'not_readable'],
  }),
  guard('look-up: a request that is there twice', {
    edits: [
      edit(
        lookUps,
        "else if (found.kind === 'several') await stopTwice(tx, batch, now);",
        "else if (found.kind === 'several')\n    await confirmBatch(tx, batch, { acceptedBy: 'look_up', serviceBatchId: found.serviceBatchIds[0] ?? '', now });",
      ),
    ],
    test: [calls, 'carried out twice'],
  }),
  guard('fence: the hold of a service that asked to wait', {
    edits: [edit(lookUp, 'serviceNow(clock) < (await', '0 > (await')],
    test: [caught, 'told to wait'],
  }),
  guard('fence: what its 429 asks for', {
    edits: [edit(lookUp, 'if (waitMs > 0) await', 'if (waitMs < 0) await')],
    test: [caught, 'told to wait'],
  }),
  guard("fence: the caller's own number", {
    edits: [edit(keyed, '.find(({ id }) => id === callerId)?', '.at(0)?')],
    test: [campaignsTest, 'calls nobody but the number that calls'],
  }),
  guard('fence: told from the request by its date', {
    edits: [
      edit(
        keyed,
        '  if (isAhead !== isNamedFence) return null;\n  return isAhead ?',
        '  if (isAhead !== isNamedFence && created < 0) return null;\n  return isNamedFence ?',
      ),
    ],
    test: [campaignsTest, 'the list shows one in its name'],
  }),
  guard('fence: stopped before it counts', {
    edits: [edit(keyed, 'kind === null || !(await stop(transport, id))', 'kind === null')],
    test: [campaignsTest, 'the fence cannot be stopped'],
  }),
  guard('fence: a key older than twelve hours', {
    edits: [edit(keyed, '(met.created_at_unix ?? Infinity) * 1_000 - since <= keyKeptMs', 'true')],
    test: [campaignsTest, 'the key is free so late'],
  }),
  guard('withdrawal: of a campaign that does not dial', {
    edits: [edit(withdrawals, "if (state !== 'running' &&", "if (state === 'draft' &&")],
    api: 'batch-calling',
    worlds: ['paused'],
    test: [calls, 'a pause takes back what waits'],
  }),
  guard('withdrawal: of who must not be called any more', {
    edits: [edit(withdrawals, "verdict.verdict === 'dial' ? []", "verdict.verdict === 'dial' || now > 0 ? []")],
    api: 'campaigns',
    worlds: ['suppressed', 'closing'],
    test: [calls, 'an entry on the do-not-call list stops a call'],
  }),
  guard('withdrawal: ahead of the end by a ring', {
    edits: [edit(withdrawals, 'marginMs: ringLimitMs + 2 * pollMs', 'marginMs: 0')],
    api: 'campaigns',
    worlds: ['closing'],
  }),
  guard('withdrawal: noted before it is asked for', {
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
  guard('withdrawal: only what was asked back', {
    edits: [edit(reported, "report.state === 'withdrawn' && batch.withdraw_asked_at !== null &&", "report.state === 'withdrawn' &&")],
    test: [caught, 'what nobody here asked back'],
  }),
  guard('withdrawal: who has a conversation', {
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
  guard('withdrawal: who was reported to ring', {
    edits: [edit(reported, ' && rangAt === null) {', ') {')],
    test: [calls, 'reported to ring before it was taken back'],
  }),
  guard('a request says how many of its calls may be open', {
    edits: [
      edit(
        'src/service/published/parts.ts',
        'concurrency === null ? {} : { target_concurrency_limit: concurrency }',
        'concurrency === null ? {} : {}',
      ),
    ],
    test: [caught, 'as many calls as the service has lines'],
  }),
  guard("another API than the campaign's", {
    edits: [edit('src/rules/service-api.ts', 'campaign.api === own.api && ', '')],
    test: ['activities/other-service', 'by another API'],
  }),
  guard('webhook: the signature', {
    edits: [edit(sent, "if (!isSigned) return { fault: 'wrong' };", "if (!isSigned && now < 0) return { fault: 'wrong' };")],
    test: [webhooks, 'what the service did not sign'],
  }),
  guard('webhook: the replay window', {
    edits: [edit(sent, 'Math.abs(now - signedAt) > signatureLastsMs', 'now < 0')],
    test: [webhooks, 'what the service did not sign'],
  }),
  guard('webhook: the same again', {
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
