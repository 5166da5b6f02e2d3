import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { assess } from '../../../../src/sandbox/core/conversation/assess.ts';
import type { Talk, Turn } from '../../../../src/sandbox/core/state/talk.ts';
import type { CollectionItem, PlatformSettings } from '../../../../src/sandbox/schemas/agent-schemas.ts';

/** By turns, the agent first. */
function talkOf(...lines: string[]): Talk {
  const turns = lines.map((text, index): Turn => {
    const at = index * 1_000;
    return { speaker: index % 2 === 0 ? 'agent' : 'user', text, at, until: at + 500 };
  });
  return { turns, endedAt: lines.length * 1_000, terminationReason: 'end_call tool was called.', brokeDown: false };
}

function valueOf(item: CollectionItem, question: string, answer: string, id = 'item'): unknown {
  const talk = talkOf('Hello.', 'Hello?', question, answer);
  return assess({ data_collection: { [id]: item } }, talk).collected[id]?.value;
}

test.each([
  ['May I leave a message about your page?', {}],
  ['What is your age?', { age: 'Fine.' }],
  ['On which delivery date?', { 'delivery-date': 'Fine.' }],
  ['Quel ÂGE avez-vous ?', { âge: 'Fine.' }],
])('"%s" asks for what it names word for word, and for the longest of several: %j', (question, expected) => {
  const items = Object.fromEntries(['_', 'age', 'date', 'delivery-date', 'âge'].map((id) => [id, { type: 'string' as const }]));
  const { collected } = assess({ data_collection: items }, talkOf('Hello.', 'Hello?', question, 'Fine.'));
  const values = Object.entries(collected).map(([id, { value }]) => [id, value]);
  expect(Object.fromEntries(values.filter(([, value]) => value !== null))).toEqual(expected);
});

const coming: CollectionItem = { type: 'string', enum: ['confirmed', 'reschedule', 'declined'], description: 'Will you come?' };

test.each([
  ['Confirmed, please.', 'confirmed'],
  ['I can confirm that.', 'confirmed'],
  ['I would like to reschedule.', 'reschedule'],
  ['Not confirmed. Declined.', 'declined'],
  ['I was going to decline, but no, reschedule.', 'reschedule'],
  ['Yes.', 'confirmed'],
  ['No, sorry.', 'declined'],
  ['I would rather not say.', null],
  ['What was that?', null],
])('of three choices, "%s" is %s', (answer, value) => {
  expect(valueOf(coming, 'Will you come? You can say confirmed, reschedule, declined.', answer)).toBe(value);
});

test.each([
  ['integer', 'I would say 4.', 4],
  ['integer', 'Four and a bit: 4.6', 4],
  ['number', 'About 4,5.', 4.5],
  ['number', 'That would be 1,200.', 1200],
  ['integer', 'Twenty-three.', 23],
  ['integer', 'Ich würde sagen fünf.', 5],
  ['integer', 'Minus -7 degrees', -7],
  ['integer', 'Hm, many.', null],
  ['integer', 'I do not know, three maybe.', null],
  ['boolean', 'Yes, I do.', true],
  ['boolean', 'Sure, why not.', true],
  ['boolean', 'No problem, yes.', true],
  ['boolean', 'Nope.', false],
  ['boolean', 'I do not think so.', false],
  ['boolean', 'Sí, claro.', true],
  ['boolean', 'Nein danke.', false],
  ['boolean', 'Maybe.', null],
  ['string', 'The staff were kind.', 'The staff were kind.'],
  ['string', 'Who is this?', null],
  ['string', 'What? Sorry, what?', null],
  ['string', `${'what '.repeat(200)}z`, `${'what '.repeat(200)}z`],
  ['string', 'Je préfère ne pas le dire.', null],
] as const)('a %s answered with "%s" is %s', (type, answer, value) => {
  expect(valueOf({ type, description: 'How is it?' }, 'How is it?', answer)).toBe(value);
});

test('a question in other words is recognised by the name of its item, and the last answer counts', () => {
  const items: PlatformSettings['data_collection'] = {
    delivery_date: { type: 'string', description: 'Preferred date of the delivery' },
    parcels: { type: 'integer', description: 'Number of parcels' },
  };
  const talk = talkOf(
    'Hi, this is about your order.',
    'Hello?',
    'Great! Which delivery date would you prefer?',
    'Monday.',
    'And how many parcels shall we bring?',
    'Two. No, make it Tuesday.',
    'So which delivery date do you prefer then?',
    'Tuesday it is.',
  );
  expect(assess({ data_collection: items }, talk).collected).toMatchObject({
    delivery_date: { value: 'Tuesday it is.', rationale: 'The person said: "Tuesday it is."' },
    parcels: { value: 2 },
  });
});

test('a choice counts wherever the person names it, and never from the agent’s mouth', () => {
  const platform: PlatformSettings = { data_collection: { plan: { type: 'string', enum: ['basic', 'premium'] } } };
  const volunteered = talkOf('Hello.', 'I am calling because I want the premium one.', 'Certainly.', 'Thanks.');
  expect(assess(platform, volunteered).collected['plan']?.value).toBe('premium');
  const offered = talkOf('We have basic and premium.', 'Hello?', 'Goodbye.', 'Bye.');
  expect(assess(platform, offered).collected['plan']?.value).toBeNull();
});

test.each([
  'Please do not call me again.',
  'Stop calling me!',
  'Take me off your list.',
  'Remove my number from your list.',
  'Por favor, no me llamen más.',
  'Bitte rufen Sie mich nicht mehr an.',
  'Ne m’appelez plus, s’il vous plaît.',
])('"%s" is an opt-out, and every goal is missed', (words) => {
  const platform: PlatformSettings = {
    evaluation: { criteria: [{ id: 'goal' }] },
    data_collection: { coming, opt_out: { type: 'boolean' } },
  };
  const { collected, evaluation } = assess(platform, talkOf('Hello.', 'Hello?', 'Will you come?', words));
  expect(collected['opt_out']?.value).toBe(true);
  expect(evaluation['goal']).toMatchObject({ result: 'failure', score: 0 });
});

test.each(['I will call you back.', 'Do call me on Monday.', 'I hope this is not a sales call.', 'Never mind, go on.'])(
  '"%s" is no opt-out',
  (words) => {
    const platform: PlatformSettings = { data_collection: { opt_out: { type: 'boolean' } } };
    const { collected } = assess(platform, talkOf('Hello.', 'Hello?', 'Will you come?', words));
    expect(collected['opt_out']?.value).toBe(false);
  },
);

test('a goal is judged by the items that share its words, with a share of them as its score', () => {
  const platform: PlatformSettings = {
    evaluation: {
      criteria: [
        { id: 'both', conversation_goal_prompt: 'Date and address are known.' },
        { id: 'date', conversation_goal_prompt: 'The person named a date.' },
        { id: 'consent', conversation_goal_prompt: 'The person agrees to newsletters.' },
      ],
    },
    data_collection: {
      date: { type: 'string', description: 'Which date suits you?' },
      address: { type: 'string', description: 'What is your address?' },
      newsletters: { type: 'boolean', description: 'May we send you newsletters?' },
    },
  };
  const talk = talkOf(
    'Hello.',
    'Hello?',
    'Which date suits you?',
    'Friday.',
    'What is your address?',
    'I would rather not say.',
    'May we send you newsletters?',
    'No.',
  );
  expect(assess(platform, talk).evaluation).toMatchObject({
    both: { result: 'failure', score: 0.5, rationale: 'address: not as the goal wants it.' },
    date: { result: 'success', score: 1 },
    consent: { result: 'failure', score: 0 },
  });
});

test('nothing can be told of a talk in which the person hardly spoke, or that broke down', () => {
  const platform: PlatformSettings = { evaluation: { criteria: [{ id: 'goal' }] }, data_collection: { coming } };
  expect(assess(platform, talkOf('Hello.', 'Leave a message.')).evaluation['goal']).toMatchObject({ result: 'unknown', score: null });
  expect(assess(platform, { ...talkOf('Hello.', 'Yes.'), brokeDown: true })).toEqual({ collected: {}, evaluation: {} });
});

test('whatever is said, the values have the type of their items', () => {
  const types = fc.constantFrom('string', 'boolean', 'integer', 'number');
  fc.assert(
    fc.property(types, fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { maxLength: 12 }), (type, lines) => {
      const choices = ['red (dark)', 'a+b', 'no'];
      const choice: CollectionItem = { type: 'string', enum: choices };
      const { collected } = assess({ data_collection: { value: { type }, choice } }, talkOf(...lines));
      if (lines.length === 0) return;
      const value = collected['value']?.value;
      if (value !== null) expect(typeof value).toBe(type === 'integer' ? 'number' : type);
      if (type === 'integer' && value !== null) expect(Number.isInteger(value)).toBe(true);
      expect([null, ...choices]).toContain(collected['choice']?.value);
    }),
    { seed: 11, numRuns: 300 },
  );
});
