import { expect, test } from 'vitest';
import type { LoggedEvent } from '../../src/verify/log.ts';
import { LogJudge } from '../../src/verify/log-judge.ts';
import type { LogRule } from '../../src/verify/log-rules.ts';
import { buildRules, hourMs, minuteMs } from '../support/campaign-rules.ts';

/** A Tuesday, 10:00 in New York. */
const ten = Date.UTC(2030, 0, 15, 15);
const day = [{ from: 9 * 60, to: 17 * 60 }];
const rules = buildRules({
  calendar: { hours: { tue: day, wed: day }, closedOn: ['2030-01-16'] },
  endsAt: ten + 30 * hourMs,
  caps: [
    { by: 'number', calls: 2, withinMs: 80 * minuteMs },
    { by: 'person', calls: 1, withinMs: hourMs },
    { by: 'number', afterTalkMs: 10 * hourMs },
  ],
  retry: { ...buildRules().retry, maxAttempts: 2 },
});
const place = { zones: ['America/New_York'], country: 'US', regions: ['NY'] };
const [ana, ben] = ['+12125550100', '+12125550101'];

type Draft = Omit<LoggedEvent, 'campaignId' | 'seq'> & { campaignId?: string };

function batch(n: number, at: number, calls: [attemptId: string, number: string][], round = 1): Draft[] {
  const batchId = `spring/${round}/${n}`;
  const recipientId = (attemptId: string) => attemptId.replace(/\/\d+$/, '');
  return [
    { at, type: 'batch.planned', batchId, data: { size: calls.length } },
    ...calls.map(([attemptId]) => ({
      at,
      type: 'attempt.planned' as const,
      batchId,
      attemptId,
      recipientId: recipientId(attemptId),
    })),
    { at, type: 'batch.posting', batchId, data: { k: 1, size: calls.length, caller: 'pn_main' } },
    ...calls.map(([attemptId, e164]) => ({
      at,
      type: 'attempt.posted' as const,
      batchId,
      attemptId,
      recipientId: recipientId(attemptId),
      data: { k: 1, e164, ...place },
    })),
    { at: at + 1, type: 'post.verdict', batchId, data: { k: 1, verdict: 'confirmed', status: 200 } },
    { at: at + 1, type: 'batch.state', batchId, data: { state: 'confirmed' } },
  ];
}

function settled(attemptId: string, at: number, disposition: string): Draft {
  return { at, type: 'attempt.settled', attemptId, data: { disposition, counted: true } };
}

function outcome(recipientId: string, at: number, result: string): Draft {
  return { at, type: 'recipient.outcome', recipientId, data: { outcome: result } };
}

/** Three rows, one of them rejected: Ana is reached at once, Ben at the second attempt. */
const kept: readonly Draft[] = [
  { at: ten, type: 'campaign.imported', data: { hash: 'x', rows: 3, rejected: 1, rules } },
  { at: ten, type: 'campaign.state', data: { from: 'draft', to: 'running' } },
  { at: ten, type: 'round.started', data: { round: 1 } },
  ...batch(1, ten, [
    ['spring/1/1', ana],
    ['spring/2/1', ben],
  ]),
  settled('spring/1/1', ten + 5 * minuteMs, 'answered'),
  outcome('spring/1', ten + 5 * minuteMs, 'completed'),
  settled('spring/2/1', ten + 5 * minuteMs, 'busy'),
  ...batch(2, ten + hourMs, [['spring/2/2', ben]]),
  settled('spring/2/2', ten + hourMs + minuteMs, 'answered'),
  outcome('spring/2', ten + hourMs + minuteMs, 'completed'),
  { at: ten + 2 * hourMs, type: 'campaign.state', data: { from: 'running', to: 'completed' } },
  { at: ten + 2 * hourMs, type: 'round.ended', data: { round: 1 } },
];

function judge(drafts: readonly Draft[]) {
  const log = new LogJudge();
  for (const [index, draft] of drafts.entries()) log.take({ seq: index + 1, campaignId: 'spring', ...draft });
  return log.finish();
}

const at = (type: string, nth = 0): number => kept.flatMap((event, index) => (event.type === type ? [index] : []))[nth] ?? -1;

/** The log with the event there changed. */
function changed(index: number, change: (event: Draft) => Draft): Draft[] {
  return kept.map((event, position) => (position === index ? change(event) : event));
}

function inserted(index: number, ...events: Draft[]): Draft[] {
  return kept.toSpliced(index, 0, ...events);
}

function without(...indexes: number[]): Draft[] {
  return kept.filter((_, position) => !indexes.includes(position));
}

const callerEvent = (type: 'caller.out' | 'caller.in'): Draft => ({
  at: ten + hourMs,
  type,
  data: { phoneNumberId: 'pn_main' },
});
const withData =
  (data: Record<string, unknown>) =>
  (event: Draft): Draft => ({ ...event, data: { ...event.data, ...data } });
const suppression: Draft = {
  campaignId: 'account',
  at: ten,
  type: 'suppression.added',
  data: { e164: ben, scope: 'account', expiresAt: null },
};
const repeated: Draft = { at: ten + 2, type: 'batch.posting', batchId: 'spring/1/1', data: { k: 2, size: 2 } };
const notSent: Draft[] = [
  { at: ten + 1, type: 'post.verdict', batchId: 'spring/1/1', data: { k: 1, verdict: 'not_sent', status: 429 } },
  { at: ten + 1, type: 'batch.state', batchId: 'spring/1/1', data: { state: 'not_sent' } },
];
const verdict = at('post.verdict');
const secondDial = at('attempt.posted', 2);

test('a log in which every promise was kept is proven, and what there was to judge is counted', () => {
  expect(judge(kept)).toEqual({ violations: [], events: kept.length, calls: 3, campaigns: ['spring'] });
});

test('whoever looks at a row or its calls, whenever that is, breaks no promise', () => {
  // As it is written: the outcome, and then the end of the call that brings it.
  const [end, brought] = [at('attempt.settled'), at('recipient.outcome')];
  const written = kept.toSpliced(end, 2, ...[kept[brought], kept[end]].filter((event) => event !== undefined));
  const looked = { type: 'operator.acted', recipientId: 'spring/1', attemptId: 'spring/1/1', data: {} } as const;
  expect(judge(written).violations).toEqual([]);
  expect(judge(written.flatMap((event) => [event, { ...looked, at: event.at }])).violations).toEqual([]);
});

const edit = (type: LoggedEvent['type'], row: number, data: Record<string, unknown> = {}, at = ten + 30 * minuteMs): Draft => ({
  at,
  type,
  recipientId: `spring/${row}`,
  data,
});
const edited = (added: number, corrected: number, withdrawn: number): Draft => ({
  at: ten + 30 * minuteMs,
  type: 'campaign.edited',
  data: { added, corrected, withdrawn },
});
/** While the second call to Ben is open. */
const whileOpen = at('attempt.settled', 2);
const between = at('batch.planned', 1);

function editCorruptions(): [rule: LogRule, what: string, log: Draft[]][] {
  // prettier-ignore
  return [
    ['open_changed', 'a row corrected while its call is open', inserted(whileOpen, edit('recipient.corrected', 2))],
    ['open_changed', 'a row withdrawn while its call is open', inserted(whileOpen, edit('recipient.withdrawn', 2), edited(0, 0, 1))],
    ['open_changed', 'a row corrected while its call is planned', inserted(at('batch.posting', 1), edit('recipient.corrected', 2),
      edited(0, 1, 0))],
    ['withdrawn_dialled', 'a call to a withdrawn row', inserted(between, edit('recipient.withdrawn', 2), edited(0, 0, 1),
      outcome('spring/2', ten, 'cancelled'))],
    ['withdrawn_dialled', 'a call to a withdrawn row that a retry put back',
      inserted(between, edit('recipient.withdrawn', 2), edited(0, 0, 1), outcome('spring/2', ten, 'cancelled'),
      edit('recipient.retried', 2, { outcome: 'cancelled' }))],
    ['reached_dialled', 'a row corrected after it was reached', inserted(between, edit('recipient.corrected', 1, { outcome: 'completed' }),
      edited(0, 1, 0))],
    ['outcome_missing', 'a row that was added and has no outcome', inserted(between, edit('recipient.added', 4), edited(1, 0, 0))],
    ['outcome_missing', 'a rejected row that was corrected and has no outcome',
      inserted(between, edit('recipient.corrected', 3, { outcome: 'rejected' }), edited(0, 1, 0))],
    ['log_incomplete', 'a number of changes that was never told', inserted(between, edit('recipient.corrected', 2))],
    ['log_incomplete', 'changes that are told and not there', inserted(between, edited(0, 1, 0))],
    ['log_incomplete', 'a correction of an outcome that there was not',
      inserted(between, edit('recipient.corrected', 2, { outcome: 'undialable' }), edited(0, 1, 0))],
    ['log_incomplete', 'more rejected rows corrected than there were',
      inserted(between, edit('recipient.corrected', 3, { outcome: 'rejected' }), edit('recipient.corrected', 4, { outcome: 'rejected' }),
      edited(0, 2, 0))],
  ];
}

const preDial = { url: 'http://127.0.0.1:9/ask', timeoutMs: 1_000 };

function marked(screened: string | null) {
  return (event: Draft): Draft => (event.type === 'attempt.posted' ? withData({ screened })(event) : event);
}

/** The log as it is with a pre-dial hook that allows every call. */
function asking(log: readonly Draft[]): Draft[] {
  return log.map(marked('eligible')).flatMap((event) => {
    if (event.type === 'campaign.imported') return [withData({ rules: { ...rules, preDial } })(event)];
    if (event.type !== 'batch.planned') return [event];
    const { batchId = '', at } = event;
    const ids = log.flatMap((other) => (other.type === 'attempt.posted' && other.batchId === batchId ? [other.attemptId] : []));
    return [event, { at, type: 'batch.screened', batchId, data: { asked: ids.length, refused: 0, later: 0, eligible: ids } }];
  });
}

const elsewhere = (id: string, when: number, more: Record<string, unknown> = {}): Draft[] =>
  [
    { at: when, type: 'campaign.imported' as const, data: { rows: 2, rejected: 1, rules: { ...rules, caps: [] } } },
    { at: when, type: 'campaign.state' as const, data: { to: 'running' } },
    ...batch(1, when, [[`${id}/1/1`, ben]]).map((event) => (event.type === 'attempt.posted' ? withData(more)(event) : event)),
    {
      at: when + minuteMs,
      type: 'attempt.settled' as const,
      attemptId: `${id}/1/1`,
      data: { disposition: 'busy', counted: true },
    },
    { at: when + minuteMs, type: 'recipient.outcome' as const, recipientId: `${id}/1`, data: { outcome: 'exhausted' } },
  ].map((event) => ({ ...event, campaignId: id }));

/** The log in the order in which a database has it: an outcome stands before the end of the call that brings it. */
const written: readonly Draft[] = kept.map((event, index) => {
  if (event.type === 'recipient.outcome') return kept[index - 1] ?? event;
  const next = kept[index + 1];
  return event.type === 'attempt.settled' && next?.type === 'recipient.outcome' ? next : event;
});
const isOutcomeOf = (row: string) => (event: Draft) => event.type === 'recipient.outcome' && event.recipientId === row;
const isEndOf = (attemptId: string) => (event: Draft) => event.type === 'attempt.settled' && event.attemptId === attemptId;

/** The log with the events there changed. */
function rewritten(which: (event: Draft) => boolean, change: (event: Draft) => Draft): Draft[] {
  return written.map((event) => (which(event) ? change(event) : event));
}

const later = written.findIndex((event) => event.batchId === 'spring/1/2');
/** Ben is not reached by both calls. */
const usedUp = rewritten(isEndOf('spring/2/2'), withData({ disposition: 'busy' })).map((event) =>
  isOutcomeOf('spring/2')(event) ? withData({ outcome: 'exhausted', reason: 'attempts_used_up' })(event) : event,
);
const optedOut = rewritten(isEndOf('spring/1/1'), withData({ disposition: 'opted_out' })).map((event) =>
  isOutcomeOf('spring/1')(event) ? withData({ outcome: 'opted_out' })(event) : event,
);
const listed = (data: Record<string, unknown>): Draft[] =>
  optedOut.flatMap((event) =>
    isEndOf('spring/1/1')(event)
      ? [event, { at: event.at, type: 'suppression.added', attemptId: 'spring/1/1', data: { e164: ana, ...data } }]
      : [event],
  );
const isOfBatch = (batchId: string, attemptIds: readonly string[]) => (event: Draft) =>
  event.batchId === batchId || attemptIds.includes(event.attemptId ?? '');

/** Single changes of a clean log, and the line that has to be named. */
// prettier-ignore
const outcomeCorruptions: [rule: LogRule, what: string, log: Draft[], line: (event: Draft) => boolean][] = [
  ['outcome_changed', 'a second outcome', [...usedUp, outcome('spring/2', ten + 2 * hourMs, 'cancelled')],
    ({ data }) => data?.['outcome'] === 'cancelled'],
  ['outcome_changed', 'somebody who was reached and is exhausted later',
    written.toSpliced(later, 0, outcome('spring/1', ten + 30 * minuteMs, 'exhausted')), ({ data }) => data?.['outcome'] === 'exhausted'],
  ['outcome_changed', 'the same outcome twice', written.toSpliced(later, 0, outcome('spring/1', ten + 30 * minuteMs, 'completed')),
    (event) => isOutcomeOf('spring/1')(event) && event.at === ten + 30 * minuteMs],
  ['outcome_changed', 'an outcome that is taken back for no reason',
    [...usedUp, { at: ten + 2 * hourMs, type: 'recipient.outcome', recipientId: 'spring/2', data: { outcome: null } }],
    ({ data }) => data?.['outcome'] === null],
  ['log_incomplete', 'an outcome that is taken back and was never there',
    written.toSpliced(later, 0, { at: ten + 2 * hourMs, type: 'recipient.outcome', recipientId: 'spring/2', data: { outcome: null } }),
    ({ data }) => data?.['outcome'] === null],
  ['outcome_missing', 'an outcome of a row that there is not, in place of one that there is',
    rewritten(isOutcomeOf('spring/2'), (event) => ({ ...event, recipientId: 'spring/99' })), isOutcomeOf('spring/99')],
  ['outcome_unproven', 'an outcome of a rejected row, in place of one that was called',
    rewritten(isOutcomeOf('spring/2'), (event) => ({ ...event, recipientId: 'spring/3' })), isOutcomeOf('spring/3')],
  ['outcome_unproven', 'attempts used up although the call was answered',
    rewritten(isOutcomeOf('spring/1'), withData({ outcome: 'exhausted' })), isOutcomeOf('spring/1')],
  ['outcome_unproven', 'attempts used up although the last call was answered',
    rewritten(isOutcomeOf('spring/2'), withData({ outcome: 'exhausted' })), isOutcomeOf('spring/2')],
  ['outcome_unproven', 'cancelled although the call was answered', rewritten(isOutcomeOf('spring/1'), withData({ outcome: 'cancelled' })),
    isOutcomeOf('spring/1')],
  ['outcome_unproven', 'completed although no call was answered', rewritten(isEndOf('spring/2/2'), withData({ disposition: 'busy' })),
    isOutcomeOf('spring/2')],
  ['outcome_unproven', 'opted out although nobody said so', rewritten(isOutcomeOf('spring/1'), withData({ outcome: 'opted_out' })),
    isOutcomeOf('spring/1')],
  ['outcome_unproven', 'unresolved although the end of the call is known',
    usedUp.map((event) => (isOutcomeOf('spring/2')(event) ? withData({ outcome: 'unresolved' })(event) : event)), isOutcomeOf('spring/2')],
  ['outcome_unproven', 'completed, and the batch with the call is not there',
    written.filter((event) => !isOfBatch('spring/1/2', ['spring/2/2'])(event)), isOutcomeOf('spring/2')],
  ['outcome_unproven', 'attempts used up, and the batch with the last is not there',
    usedUp.filter((event) => !isOfBatch('spring/1/2', ['spring/2/2'])(event)), isOutcomeOf('spring/2')],
  ['outcome_unproven', 'attempts used up, and none of them is there',
    usedUp.filter((event) => !isOfBatch('spring/1/2', ['spring/2/1',
    'spring/2/2'])(event)).map((event) => (isOutcomeOf('spring/2')(event) ? withData({ reason: null })(event) : event)),
    isOutcomeOf('spring/2')],
  ['outcome_unproven', 'no retry after an end that no call had', usedUp.map((event) =>
    isOutcomeOf('spring/2')(event) ? withData({ reason: 'no_retry_after_voicemail' })(event) : event), isOutcomeOf('spring/2')],
  ['outcome_unproven', 'completed long before a late record shows an answered call',
    [...kept.map((event) => (isEndOf('spring/2/2')(event) ? withData({ disposition: 'busy' })(event) : event)),
    { at: ten + 3 * hourMs, type: 'attempt.corrected', attemptId: 'spring/2/2', data: { disposition: 'answered', counted: true } }],
    isOutcomeOf('spring/2')],
  ['log_incomplete', 'a batch that is missing before another', written.filter((event) => !isOfBatch('spring/1/1',
    ['spring/1/1', 'spring/2/1'])(event)), ({ type, batchId }) => type.endsWith('.planned') && batchId === 'spring/1/2'],
  ['log_incomplete', 'a call that is missing before another of its row',
    written.filter((event) => !isOfBatch('', ['spring/2/1'])(event)).map((event) =>
    event.batchId === 'spring/1/1' && 'size' in (event.data ?? {}) ? withData({ size: 1 })(event) : event),
    ({ type, attemptId }) => type === 'attempt.planned' && attemptId === 'spring/2/2'],
  ['log_incomplete', 'a call to a row that there is not', written.toSpliced(later, 0,
    ...batch(1, ten + 30 * minuteMs, [['spring/4/1', '+12125550102']], 2), settled('spring/4/1', ten + 31 * minuteMs, 'busy')),
    ({ type, attemptId }) => type === 'attempt.planned' && attemptId === 'spring/4/1'],
  ['opt_out_unlisted', 'an opt-out that is not put on the list', optedOut, isEndOf('spring/1/1')],
  ['opt_out_unlisted', 'an opt-out that is put on the list of one campaign', listed({ scope: 'spring' }), isEndOf('spring/1/1')],
  ['opt_out_unlisted', 'an opt-out that is put on the list for a time', listed({ scope: 'account', expiresAt: ten + 24 * hourMs }),
    isEndOf('spring/1/1')],
  ['opt_out_unlisted', 'an opt-out for which another number is put on the list', listed({ scope: 'account', e164: ben }),
    isEndOf('spring/1/1')],
  ['reached_dialled', 'a call after one that was answered, whose outcome is not told',
    written.toSpliced(later, 0, ...batch(1, ten + 30 * minuteMs, [['spring/1/2', ana]], 2),
    settled('spring/1/2', ten + 31 * minuteMs, 'busy')).filter((event) => !isOutcomeOf('spring/1')(event)),
    ({ type, attemptId }) => type === 'attempt.posted' && attemptId === 'spring/1/2'],
];

test.each(outcomeCorruptions)('the line is named: %s, %s', (rule, _what, log, line) => {
  const named = judge(log).violations.flatMap(({ rule: broken, seq }) => (broken === rule && seq !== null ? [seq] : []));
  expect(log.flatMap((event, index) => (line(event) ? [index + 1] : []))).toEqual(named);
});

test('a row that was called and has no outcome is named, also where a rejected one has it', () => {
  const swapped = rewritten(isOutcomeOf('spring/2'), (event) => ({
    ...event,
    recipientId: 'spring/3',
    data: { outcome: 'expired' },
  }));
  expect(judge(swapped).violations.map(({ rule, what }) => [rule, what])).toEqual([
    ['outcome_missing', 'spring/2 was to be called and has no outcome'],
  ]);
});

test('who was put back in line after the end waits for the next round, and has an outcome when that has ended', () => {
  const evening = ten + 3 * hourMs;
  const retried: Draft[] = [...usedUp, { at: evening, type: 'recipient.retried', recipientId: 'spring/2', data: { outcome: 'exhausted' } }];
  expect(judge(retried).violations).toEqual([]);
  const rounds: Draft[] = [
    { at: evening, type: 'campaign.state', data: { to: 'running' } },
    { at: evening, type: 'campaign.state', data: { to: 'completed' } },
    { at: evening, type: 'round.ended', data: { round: 2 } },
  ];
  expect(judge([...retried, ...rounds]).violations.map(({ rule }) => rule)).toEqual(['outcome_missing']);
});

test('an outcome may change with what is heard of its calls, and by the word of a person', () => {
  expect(judge(written).violations).toEqual([]);
  expect(judge(usedUp).violations).toEqual([]);
  expect(judge(listed({ scope: 'account' })).violations).toEqual([]);
  const late = ten + 3 * hourMs;
  const told = (outcomeNow: string | null, reason: string | null = null): Draft => ({
    at: late,
    type: 'recipient.outcome',
    recipientId: 'spring/2',
    data: { outcome: outcomeNow, reason },
  });
  const corrected = (disposition: string): Draft => ({
    at: late,
    type: 'attempt.corrected',
    attemptId: 'spring/2/2',
    data: { disposition, counted: true },
  });
  const unresolved = usedUp.map((event) =>
    isEndOf('spring/2/2')(event)
      ? withData({ disposition: 'unknown' })(event)
      : isOutcomeOf('spring/2')(event)
        ? withData({ outcome: 'unresolved', reason: 'unknown' })(event)
        : event,
  );
  const legal: [what: string, log: Draft[]][] = [
    ['a late record shows an answered call', [...usedUp, told('completed', 'answered'), corrected('answered')]],
    ['a late record shows that nobody answered', [...written, told('exhausted', 'attempts_used_up'), corrected('busy')]],
    ['it shows another kind of talk', [...written, told('completed', 'silent'), corrected('answered')]],
    ['a call is planned again for a late record', [...written, told(null), corrected('voicemail')]],
    ['a person gives up', [...unresolved, told('unresolved', 'given_up')]],
    ['a person has somebody redialled', [...unresolved, told(null)]],
    // Logs of the first schema do not tell that an outcome was taken back.
    ['an outcome was taken back in silence', [...usedUp, corrected('voicemail'), told('expired', 'row_expired')]],
  ];
  for (const [what, log] of legal) expect(judge(log).violations, what).toEqual([]);
});

test('attempts of other campaigns to the number may have used up its budget', () => {
  const shared = { ...rules, retry: { ...rules.retry, maxAttemptsPerNumber: 1 } };
  const log: Draft[] = [
    { at: ten, type: 'campaign.imported', data: { rows: 1, rejected: 0, rules: shared } },
    outcome('spring/1', ten, 'exhausted'),
  ];
  expect(judge(log).violations).toEqual([]);
});

const corruptions: [rule: LogRule, what: string, log: Draft[]][] = [
  ['dialled_twice', 'a second request after one whose fate is unknown', kept.toSpliced(verdict, 0, { ...repeated })],
  [
    'dialled_twice',
    'a call placed after its end',
    inserted(at('campaign.state', 1), { ...kept[at('attempt.posted')], at: ten + 90 * minuteMs } as Draft),
  ],
  ['calls_overlap', 'a second call while the first is open', without(at('attempt.settled', 1))],
  [
    'calls_overlap',
    'a call of another campaign to the same number',
    inserted(
      verdict,
      { campaignId: 'autumn', at: ten, type: 'campaign.imported', data: { rows: 1, rejected: 0, rules } },
      { campaignId: 'autumn', at: ten, type: 'campaign.state', data: { to: 'running' } },
      ...batch(1, ten, [['autumn/1/1', ana]]).map((event) => ({ ...event, campaignId: 'autumn' })),
    ),
  ],
  ['outside_hours', 'before the window opens', changed(at('attempt.posted'), (event) => ({ ...event, at: ten - 2 * hourMs }))],
  ['outside_hours', 'within the margin before it closes', changed(secondDial, (event) => ({ ...event, at: ten + 6.9 * hourMs }))],
  ['outside_hours', 'on a holiday', changed(secondDial, (event) => ({ ...event, at: ten + 24 * hourMs }))],
  ['outside_hours', 'after the end of the campaign', changed(secondDial, (event) => ({ ...event, at: ten + 7 * 24 * hourMs }))],
  ['outside_hours', 'in a zone where it is night', changed(secondDial, withData({ zones: ['America/New_York', 'Asia/Tokyo'] }))],
  ['suppressed_dialled', 'a number on the list of all campaigns', inserted(at('batch.planned', 1), suppression)],
  [
    'suppressed_dialled',
    'a number on the list of this campaign',
    inserted(at('batch.planned', 1), {
      ...suppression,
      campaignId: 'spring',
      data: { ...suppression.data, scope: 'spring' },
    }),
  ],
  [
    'cap_exceeded',
    'a third call to the number within eighty minutes, the second by another campaign',
    inserted(at('batch.planned', 1), ...elsewhere('autumn', ten + 30 * minuteMs)),
  ],
  [
    'cap_exceeded',
    'a second call to the person within the hour, at another number',
    inserted(at('batch.planned', 1), ...elsewhere('autumn', ten + 30 * minuteMs, { e164: '+12125550177', person: 'b' })).map((event) =>
      event.attemptId === 'spring/2/2' && event.type === 'attempt.posted' ? withData({ person: 'b' })(event) : event,
    ),
  ],
  ['cap_exceeded', 'a call an hour after a talk', changed(at('attempt.settled', 1), withData({ disposition: 'answered' }))],
  [
    'budget_exceeded',
    'a third attempt of two',
    inserted(
      at('recipient.outcome', 1),
      ...batch(3, ten + 1.5 * hourMs, [['spring/2/3', ben]]),
      settled('spring/2/3', ten + 1.6 * hourMs, 'busy'),
    ),
  ],
  [
    'reached_dialled',
    'a call after the goal was reached',
    inserted(
      at('campaign.state', 1),
      ...batch(3, ten + 1.5 * hourMs, [['spring/1/2', ana]]),
      settled('spring/1/2', ten + 1.6 * hourMs, 'busy'),
    ),
  ],
  [
    'reached_dialled',
    'somebody who was reached is put back in line',
    [...kept, { at: ten + 3 * hourMs, type: 'recipient.retried', recipientId: 'spring/1', data: { outcome: 'completed' } }],
  ],
  [
    'dialled_while_stopped',
    'a batch of a paused campaign',
    inserted(at('batch.posting', 1), { at: ten, type: 'campaign.state', data: { to: 'paused' } }),
  ],
  ['caller_out_dialled', 'a batch from a number that was taken out', inserted(at('batch.posting', 1), callerEvent('caller.out'))],
  ['unscreened_dialled', 'a call that the pre-dial hook was not asked about', asking(without(at('batch.planned')))],
  ['unscreened_dialled', 'a call whose mark is missing', asking(kept).map(marked(null))],
  [
    'unscreened_dialled',
    'a call that the pre-dial hook did not allow',
    asking(kept).map((event) => (event.type === 'batch.screened' ? withData({ eligible: ['spring/9/1'] })(event) : event)),
  ],
  [
    'unscreened_dialled',
    'a call that was allowed too long before',
    asking(kept).map((event) => (event.type === 'batch.screened' ? { ...event, at: event.at - 16 * minuteMs } : event)),
  ],
  ['outcome_missing', 'a row without an outcome', without(at('recipient.outcome', 1))],
  ['outcome_missing', 'a row that the list did not have', inserted(at('campaign.state', 1), outcome('spring/9', ten, 'cancelled'))],
  [
    'illegal_change',
    'a confirmed batch that is released',
    inserted(verdict + 2, { at: ten, type: 'batch.state', batchId: 'spring/1/1', data: { state: 'released' } }),
  ],
  ['illegal_change', 'a completed campaign that is paused', [...kept, { at: ten, type: 'campaign.state', data: { to: 'paused' } }]],
  ['log_incomplete', 'a batch that was never planned', without(at('batch.planned', 1))],
  ['log_incomplete', 'a call that was never planned', without(at('attempt.planned'))],
  ['log_incomplete', 'an end without a call', inserted(at('campaign.state', 1), settled('spring/7/1', ten, 'busy'))],
  ['log_incomplete', 'a call without an end', without(at('attempt.settled'))],
  ['log_incomplete', 'a campaign without its import', without(0)],
  ['log_incomplete', 'a verdict of a request that was never begun', changed(verdict, withData({ k: 2 }))],
  [
    'log_incomplete',
    'a call of which the place is missing',
    changed(secondDial, ({ data: _data, ...event }) => ({ ...event, data: { k: 1, e164: ben } })),
  ],
  ...editCorruptions(),
  ...outcomeCorruptions.map(([rule, what, log]): [LogRule, string, Draft[]] => [rule, what, log]),
];

test('a number that has been taken in again may call', () => {
  const log = inserted(at('batch.posting', 1), callerEvent('caller.out'), callerEvent('caller.in'));
  expect(judge(log).violations).toEqual([]);
});

test('calls that the pre-dial hook allowed are no violation', () => {
  expect(judge(asking(kept)).violations).toEqual([]);
});

test.each(corruptions)('%s: %s is found', (rule, _what, log) => {
  expect(judge(log).violations.map((violation) => violation.rule)).toContain(rule);
});

test('events that stand in another order than their numbers are found', () => {
  const log = new LogJudge();
  for (const seq of [1, 2, 2]) log.take({ seq, campaignId: 'spring', ...kept[Math.min(seq, 2) - 1] } as LoggedEvent);
  expect(log.finish().violations.map(({ rule, seq }) => [rule, seq])).toContainEqual(['log_incomplete', 2]);
});

test('what is allowed is no violation', () => {
  const rerun = [
    ...notSent,
    ...batch(1, ten + 1, [
      ['spring/1/1', ana],
      ['spring/2/1', ben],
    ]).slice(3),
  ].map((event) =>
    event.type === 'batch.posting' || event.type === 'attempt.posted' || event.type === 'post.verdict'
      ? withData({ k: event.at === ten + 1 && event.data?.['verdict'] === 'not_sent' ? 1 : 2 })(event)
      : event,
  );
  // A request that was proven to have queued nothing is repeated.
  expect(judge(kept.toSpliced(verdict, 2, ...rerun)).violations).toEqual([]);
  // A row that was not reached gets a budget anew, and a late correction of the old one has no bearing on it.
  const exhausted = kept.map((event) =>
    event.recipientId === 'spring/2' && event.type === 'recipient.outcome'
      ? withData({ outcome: 'exhausted' })(event)
      : event.attemptId === 'spring/2/2' && event.type === 'attempt.settled'
        ? withData({ disposition: 'busy' })(event)
        : event,
  );
  const again: Draft[] = [
    { at: ten + 3 * hourMs, type: 'recipient.retried', recipientId: 'spring/2', data: { outcome: 'exhausted' } },
    { at: ten + 3 * hourMs, type: 'campaign.state', data: { to: 'running' } },
    ...batch(3, ten + 3 * hourMs, [['spring/2/3', ben]]),
    settled('spring/2/3', ten + 3.1 * hourMs, 'busy'),
    {
      at: ten + 3.1 * hourMs,
      type: 'attempt.corrected',
      attemptId: 'spring/2/2',
      data: { disposition: 'busy', counted: true },
    },
    ...batch(4, ten + 4.5 * hourMs, [['spring/2/4', ben]]),
    settled('spring/2/4', ten + 4.6 * hourMs, 'busy'),
    outcome('spring/2', ten + 4.6 * hourMs, 'exhausted'),
  ];
  expect(judge([...exhausted, ...again]).violations).toEqual([]);
  const fifth = [...batch(5, ten + 4.9 * hourMs, [['spring/2/5', ben]]), settled('spring/2/5', ten + 5 * hourMs, 'busy')];
  expect(judge([...exhausted, ...again, ...fifth]).violations.map(({ rule }) => rule)).toContain('budget_exceeded');
  // Rows are added, corrected and withdrawn, and one that is rejected or withdrawn comes back.
  const [, , cy, dan] = [ana, ben, '+12125550102', '+12125550103'];
  const more: Draft[] = [
    edit('recipient.added', 4),
    edit('recipient.corrected', 3, { outcome: 'rejected' }),
    edit('recipient.corrected', 2, { outcome: null }),
    edited(1, 2, 0),
    edit('recipient.withdrawn', 4),
    edited(0, 0, 1),
    outcome('spring/4', ten + 30 * minuteMs, 'cancelled'),
    edit('recipient.corrected', 4, { outcome: 'cancelled' }),
    edited(0, 1, 0),
    ...batch(
      1,
      ten + 40 * minuteMs,
      [
        ['spring/3/1', cy],
        ['spring/4/1', dan],
      ],
      2,
    ),
    ...['spring/3', 'spring/4'].flatMap((row) => [
      settled(`${row}/1`, ten + 45 * minuteMs, 'answered'),
      outcome(row, ten + 45 * minuteMs, 'completed'),
    ]),
  ];
  expect(judge(inserted(between, ...more)).violations).toEqual([]);
  // A number that does not exist is corrected, and called with a budget of its own.
  const undialable: Draft[] = [
    ...exhausted.filter(({ type }) => type !== 'round.ended' && type !== 'campaign.state').slice(0, -1),
    outcome('spring/2', ten + hourMs + minuteMs, 'undialable'),
    edit('recipient.corrected', 2, { outcome: 'undialable', numberChanged: true }, ten + hourMs + minuteMs),
    { ...edited(0, 1, 0), at: ten + hourMs + minuteMs },
  ];
  const running = undialable.toSpliced(1, 0, { at: ten, type: 'campaign.state', data: { to: 'running' } });
  const another = [...batch(3, ten + 3 * hourMs, [['spring/2/3', dan]]), settled('spring/2/3', ten + 4 * hourMs, 'busy')];
  expect(judge([...running, ...another]).violations).toEqual([]);
  // With its number as it was it has what was left.
  const sameNumber = [...running, ...another].map((event) =>
    event.type === 'recipient.corrected' ? withData({ numberChanged: false })(event) : event,
  );
  expect(judge(sameNumber).violations.map(({ rule }) => rule)).toEqual(['budget_exceeded']);
  // An entry that was over, and one that was taken off again.
  const over = { ...suppression, data: { ...suppression.data, expiresAt: ten + minuteMs } };
  expect(judge(inserted(at('batch.planned', 1), over)).violations).toEqual([]);
  const removed: Draft = { ...suppression, type: 'suppression.removed', data: { e164: ben, scope: 'account' } };
  expect(judge(inserted(at('batch.planned', 1), suppression, removed)).violations).toEqual([]);
  // A call that the caps allow again.
  const earlier = inserted(at('batch.planned'), ...elsewhere('autumn', ten - 23.5 * hourMs)).filter(({ at: when }) => when > 0);
  expect(judge(earlier).violations.filter(({ campaignId }) => campaignId === 'spring')).toEqual([]);
  // A correction gives an attempt back.
  const corrected: Draft = {
    at: ten + hourMs + minuteMs,
    type: 'attempt.corrected',
    attemptId: 'spring/2/1',
    data: { disposition: 'failed', counted: false },
  };
  const third = [...batch(3, ten + 1.5 * hourMs, [['spring/2/3', ben]]), settled('spring/2/3', ten + 1.6 * hourMs, 'answered')];
  const tried = inserted(at('recipient.outcome', 1), corrected, ...third).map((event) =>
    event.attemptId === 'spring/2/2' && event.type === 'attempt.settled'
      ? withData({ disposition: 'busy' })(event)
      : event.type === 'recipient.outcome' && event.recipientId === 'spring/2'
        ? { ...event, at: ten + 1.6 * hourMs }
        : event,
  );
  expect(judge(tried).violations).toEqual([]);
});

test('budgets of numbers and renewed budgets are judged by when their attempts were', () => {
  const long = { calendar: { hours: null, closedOn: [] }, caps: [], endsAt: null };
  const withRetry = (retry: object): Draft[] => {
    const own = buildRules({ ...long, retry });
    return [
      { at: ten, type: 'campaign.imported', data: { hash: 'x', rows: 2, rejected: 0, rules: own } },
      { at: ten, type: 'campaign.state', data: { from: 'draft', to: 'running' } },
    ];
  };
  const call = (n: number, at: number): Draft[] => [
    ...batch(n, at, [[`spring/2/${n}`, ben]]),
    settled(`spring/2/${n}`, at + minuteMs, 'busy'),
  ];
  const renewed = { maxAttempts: 2, resetAfterMs: 24 * hourMs };
  const twice = [...withRetry(renewed), ...call(1, ten), ...call(2, ten + hourMs)];
  expect(judge([...twice, ...call(3, ten + 24 * hourMs)]).violations).toEqual([]);
  const early = judge([...twice, ...call(3, ten + 24 * hourMs - 1)]).violations;
  expect(early.map(({ rule }) => rule)).toEqual(['budget_exceeded']);

  const autumn = (drafts: Draft[]): Draft[] =>
    drafts.map((draft) => ({
      ...draft,
      campaignId: 'autumn',
      ...(draft.batchId === undefined ? {} : { batchId: draft.batchId.replace('spring', 'autumn') }),
      ...(draft.attemptId === undefined ? {} : { attemptId: draft.attemptId.replace('spring', 'autumn') }),
      ...(draft.recipientId === undefined ? {} : { recipientId: draft.recipientId.replace('spring', 'autumn') }),
    }));
  const shared = { maxAttempts: 2, maxAttemptsPerNumber: 2 };
  const both = [...withRetry(shared), ...autumn(withRetry(shared)), ...call(1, ten), ...autumn(call(1, ten + hourMs))];
  expect(judge(both).violations).toEqual([]);
  expect(judge([...both, ...call(2, ten + 2 * hourMs)]).violations.map(({ rule }) => rule)).toEqual(['budget_exceeded']);
  const uncounted: Draft = {
    at: ten + hourMs + 2 * minuteMs,
    type: 'attempt.corrected',
    attemptId: 'autumn/2/1',
    campaignId: 'autumn',
    data: { disposition: 'failed', counted: false },
  };
  expect(judge([...both, uncounted, ...call(2, ten + 2 * hourMs)]).violations).toEqual([]);
});

test('a call before the start of the campaign, or too near to the end of its row, is told', () => {
  const begin = (startsAt: number | null, posted: object): Draft[] => [
    {
      at: ten,
      type: 'campaign.imported',
      data: { hash: 'x', rows: 2, rejected: 0, rules: buildRules({ startsAt }) },
    },
    { at: ten, type: 'campaign.state', data: { from: 'draft', to: 'running' } },
    ...batch(1, ten + hourMs, [['spring/2/1', ben]]).map((event) =>
      event.type === 'attempt.posted' ? { ...event, data: { ...event.data, ...posted } } : event,
    ),
    settled('spring/2/1', ten + hourMs + minuteMs, 'busy'),
  ];
  const rulesOf = (drafts: Draft[]) => judge(drafts).violations.map(({ rule }) => rule);
  expect(rulesOf(begin(ten + hourMs, { expiresAt: ten + 2 * hourMs }))).toEqual([]);
  expect(rulesOf(begin(ten + hourMs + 1, {}))).toEqual(['outside_hours']);
  expect(rulesOf(begin(null, { expiresAt: ten + hourMs + 10 * minuteMs }))).toEqual(['outside_hours']);
  expect(rulesOf(begin(null, { expiresAt: ten + hourMs + 10 * minuteMs + 1 }))).toEqual([]);
  expect(rulesOf(begin(null, { notBefore: ten + hourMs }))).toEqual([]);
  expect(rulesOf(begin(null, { notBefore: ten + hourMs + 1 }))).toEqual(['outside_hours']);
});

/** A single call that was given back after an answer with that status, and is told of again. */
function deniedCall(status: number | null, disposition: string, matched: boolean): Draft[] {
  const [batchId, attemptId] = ['spring/1/1', 'spring/1/1'];
  const correction = { disposition, counted: true, from: null };
  return [
    ...kept.slice(0, at('batch.planned')),
    ...batch(1, ten, [[attemptId, ana]]).slice(0, 4),
    { at: ten + 1, type: 'post.verdict', batchId, data: { k: 1, verdict: 'not_sent', status } },
    { at: ten + 1, type: 'batch.state', batchId, data: { state: 'not_sent' } },
    { at: ten + 2, type: 'batch.state', batchId, data: { state: 'released' } },
    { at: ten + 2, type: 'attempt.released', attemptId, batchId, data: { reason: 'not_sent_in_time' } },
    ...(matched ? [{ at: ten + 3, type: 'attempt.matched' as const, attemptId, data: { conversation: 'c1' } }] : []),
    { at: ten + 3, type: 'attempt.corrected', attemptId, data: correction },
  ];
}

test.for([
  [429, 'answered', true, true],
  [429, 'unknown', false, true],
  // Without a record nobody can tell how it ended.
  [429, 'busy', false, false],
  // Of a request that never reached the service there is none.
  [null, 'answered', true, false],
] as const)('a call given back after a %s that ends %s, with a record %s, may be: %s', ([status, end, matched, may]) => {
  const { violations, calls } = judge(deniedCall(status, end, matched));
  expect(violations.some(({ rule }) => rule === 'illegal_change')).toBe(!may);
  expect(calls).toBe(1);
});
