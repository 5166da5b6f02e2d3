import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runSandbox } from '../../../../src/interfaces/cli/sandbox/sandbox.ts';
import { periodAt } from '../../../../src/sandbox/core/world/people.ts';
import { readWorld, WorldError } from '../../../../src/sandbox/core/world/read-world.ts';
import type { WorldInput } from '../../../../src/sandbox/core/world/schema.ts';
import { noon, plainNumbers, startTestSandbox, type Json, type TestSandbox } from '../../harness.ts';

const hour = 3_600_000;
const somebody = '+12125550142';

async function call(sandbox: TestSandbox, number = somebody, more: Record<string, unknown> = {}): Promise<Json> {
  const body = await sandbox.call(number, more);
  return { ...body, truth: sandbox.calls().at(-1), said: body.transcript.filter((turn: Json) => turn.speaker === 'user') };
}

function problemsOf(text: string): readonly string[] {
  try {
    readWorld(text, 'town.yaml');
  } catch (error) {
    if (error instanceof WorldError) return error.problems;
    throw error;
  }
  return [];
}

test.each(
  // prettier-ignore
  [
    ['people: [{number: "+12125550142", mood: grumpy}]', /^people\[0\]\.mood is "grumpy"; .*friendly, neutral, impatient, hostile/],
    ['people: [{number: 12125550142}]', /^people\[0\]\.number is 12125550142\./],
    ['people: [{mood: friendly}]', /^people\[0\] .*give number, or numbers, or a pattern/],
    ['people: [{number: "+12125550142", nmae: Ada}]', /^people\[0\]\.nmae: this field is not known here/],
    ['people: [{number: "+12125550142", reach: {busy: 0.7, absent: 0.5}}]', /^people\[0\]\.reach .*not sum to more than 1/],
    ['people: [{number: "+12125550142", zone: Mars/Olympus}]', /^people\[0\]\.zone is "Mars\/Olympus".*America\/New_York/],
    ['people: [{number: "+12125550142", hours: [{from: "25:00", to: "07:00", reach: {}}]}]',
      /^people\[0\]\.hours\[0\]\.from is "25:00"\..*HH:MM/],
    ['people: [{number: "+12125550142", analysis: {evaluation: {goal: maybe}}}]', /^people\[0\]\.analysis\.evaluation\.goal is "maybe"; .*success/],
    ['population: [{weight: 0}]', /^population\[0\]\.weight is 0\..*above 0/],
    ['version: 2', /^version is 2; Must be 1/],
    ['people: [{number: "+12125550142"}, {numbers: ["+12125550142"]}]', /^people\[1\] has the number .*people\[0\] has too/],
    ['people: [', /^not YAML: /],
    ['- 1', /^the file is \[1\]/],
  ],
)('%s is refused with path, value and fix', (text, message) => {
  const problems = problemsOf(text);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(message);
});

test('a broken world file ends the command with code 2 and says what to mend', async () => {
  const written: string[] = [];
  const io = {
    stdout: { write: (text: string) => written.push(text) },
    stderr: { write: (text: string) => written.push(text) },
    stop: AbortSignal.abort(),
  };
  const file = new URL('../../../../package.json', import.meta.url).pathname;
  expect(await runSandbox({ port: '0', world: file }, io)).toBe(2);
  expect(written.join('')).toContain(`${file}: the world cannot be used.`);
  expect(written.join('')).toContain('dependencies: this field is not known here; leave it out.');
  expect(await runSandbox({ port: '0', world: '/nowhere/world.yaml' }, io)).toBe(2);
  expect(written.at(-1)).toContain('--world /nowhere/world.yaml: the file cannot be read: there is no such file');
  const example = new URL('../../../../examples/worlds/small-town.yaml', import.meta.url).pathname;
  expect(await runSandbox({ port: '0', world: example }, io)).toBe(0);
});

test('every example of a world can be used, and its people talk', async () => {
  const folder = new URL('../../../../examples/worlds/', import.meta.url);
  for (const name of readdirSync(folder)) {
    const world = readWorld(readFileSync(new URL(name, folder), 'utf8'), name);
    const sandbox = await startTestSandbox({ world, concurrency: 100 });
    const named = world.people.flatMap(({ number, numbers = [] }) => (number === undefined ? numbers : [number]));
    await sandbox.batch([...named, ...plainNumbers(30)]);
    sandbox.clock.advance(hour);
    expect(sandbox.calls().some(({ transcriptTurns }) => transcriptTurns > 4)).toBe(true);
  }
});

test('somebody with a number is who the world says: greeting, mood, answers by item and by words', async () => {
  const answers = { appointment: 'I have to reschedule.', 'how satisfied': 2, reason: 'It took too long' };
  const sandbox = await startTestSandbox({
    world: { people: [{ number: somebody, greeting: 'Ada speaking.', mood: 'friendly', answers }] },
  });
  const reminder = await call(sandbox);
  expect(reminder.said[0].text).toBe('Ada speaking.');
  expect(reminder.said.map(({ text }: Json) => text)).toContain('I have to reschedule.');
  expect(reminder.collected_data.appointment.value).toBe('reschedule');
  const survey = await call(sandbox, somebody, { agent_id: 'agent_survey' });
  expect(survey.collected_data).toMatchObject({ satisfaction: { value: 2 }, reason: { value: 'It took too long.' } });
});

test('a script is said line by line, with interruptions, silence and the end as written', async () => {
  const script = ['Hello, who is this?', { say: null }, { say: 'Yes, yes.', interrupts: true }, { say: 'Bye.', hangs_up: true }];
  const sandbox = await startTestSandbox({ world: { people: [{ number: somebody, script }] } });
  const { said, transcript, metadata } = await call(sandbox);
  expect(said.map(({ text }: Json) => text)).toEqual(['Hello, who is this?', 'Yes, yes.', 'Bye.']);
  const cut = transcript[transcript.findIndex(({ text }: Json) => text === 'Yes, yes.') - 1];
  expect(cut).toMatchObject({ speaker: 'agent', interrupted: true, original_message: 'Hello, can you hear me?' });
  expect(metadata.termination_reason).toBe('Call ended by remote party');
});

test.each<[string, WorldInput['people'], (conversation: Json) => void]>(
  // prettier-ignore
  [
    [
      'an opt-out sentence is said and believed',
      [{ number: somebody, opts_out: 'Take me off your list.' }],
      ({ truth, collected_data: collected }) => {
        expect(truth.optedOut).toBe(true);
        expect(collected.opt_out.value).toBe(true);
      },
    ],
    ['an opt-out in a script is the truth, too', [{ number: somebody, script: ['Yes?', 'Never call me again!'] }],
      ({ truth }) => expect(truth.optedOut).toBe(true)],
    ['a silent person is silent in truth', [{ number: somebody, silent: true }],
      ({ truth, said }) => expect([truth.silent, truth.result, said]).toEqual([true, 'answered', []])],
    ['who hangs up after some seconds is gone then', [{ number: somebody, hangs_up: { after_seconds: 9 } }],
      ({ metadata }) => expect(metadata.duration).toBe(9)],
    [
      'who hangs up after some turns has had that many',
      [{ number: somebody, hangs_up: { after_turns: 2 } }],
      ({ said, metadata }) => {
        expect(said).toHaveLength(2);
        expect(metadata.termination_reason).toBe('Call ended by remote party');
      },
    ],
    [
      'the wrong person says so in words of the file',
      [{ number: somebody, wrong_person: 'You have the wrong number, my dear.' }],
      ({ said, transcript }) => {
        expect(said[0].text).toBe('You have the wrong number, my dear.');
        expect(transcript[2].text).toContain('sorry to have disturbed you');
      },
    ],
    [
      'a confused person has the question repeated, and then answers it',
      [{ number: somebody, persona: 'confused', mood: 'friendly' }],
      ({ transcript, collected_data: collected }) => {
        expect(transcript.filter(({ text }: Json) => text.includes('Will you come'))).toHaveLength(2);
        expect(collected.appointment.value).toBe('confirmed');
      },
    ],
    ['a terse person wastes no words', [{ number: somebody, persona: 'terse', mood: 'friendly' }],
      ({ said }) => expect(said[1].text).toBe('Confirmed.')],
    [
      'somebody French says so after their own first words, and the agent ends the call',
      [{ number: somebody, language: 'fr', greeting: 'Allô ?', opts_out: true }],
      ({ said, transcript }) => {
        expect(said[0].text).toBe('Allô ?');
        expect(said.map(({ text }: Json) => text)).toContain('I only speak French.');
        expect(transcript.at(-2).text).toContain('I do not speak French');
      },
    ],
  ],
)('%s', async (_, people, check) => {
  check(await call(await startTestSandbox({ world: { people } })));
});

test('whether somebody can be reached depends on their own clock', async () => {
  const working = { days: ['tue' as const], from: '09:00', to: '17:00', reach: { voicemail: 1 } };
  const night = { from: '22:00', to: '07:00', reach: { absent: 1 } };
  const world: WorldInput = {
    people: [
      { number: '+12125550142', zone: 'America/New_York', hours: [working, night] },
      { number: '+442079460142', zone: 'Asia/Tokyo', hours: [working, night] },
      // No zone given: that of the number, where it is seven in the morning, no longer night.
      { number: '+12125550143', hours: [{ from: '06:59', to: '07:01', reach: { busy: 1 } }, night] },
    ],
  };
  // A Tuesday noon in UTC: seven in the morning in New York, nine in the evening in Tokyo.
  const sandbox = await startTestSandbox({ world });
  const numbers = ['+12125550142', '+442079460142', '+12125550143'];
  const results = async (): Promise<(string | null)[]> => {
    await sandbox.batch(numbers);
    sandbox.clock.advance(hour);
    return sandbox
      .calls()
      .slice(-numbers.length)
      .map(({ result }) => result);
  };
  expect(new Date(noon).getUTCDay()).toBe(2);
  expect(await results()).toEqual(['answered', 'answered', 'busy']);
  sandbox.clock.advance(hour); // 14:00 UTC: nine in New York, eleven at night in Tokyo.
  expect(await results()).toEqual(['voicemail', 'no_answer', 'answered']);
  sandbox.clock.advance(9 * hour); // Midnight UTC: seven in the evening, nine in the morning of Wednesday.
  expect(await results()).toEqual(['answered', 'answered', 'answered']);
  sandbox.clock.advance(3 * hour); // Four in the morning: eleven at night of the day before, past noon.
  expect(await results()).toEqual(['no_answer', 'answered', 'no_answer']);
  sandbox.clock.advance(3 * hour); // Eight in the morning: three at night, five in the afternoon.
  expect(await results()).toEqual(['no_answer', 'answered', 'no_answer']);
});

test.each([
  ['2030-01-18T22:00', true],
  ['2030-01-18T21:59', false],
  ['2030-01-19T06:59', true],
  ['2030-01-19T07:00', false],
  ['2030-01-18T03:00', false],
])('a period past midnight belongs to the Friday on which it began: %s is in it: %s', (local, inside) => {
  const reach = { busy: 0, absent: 1, voicemail: 0, failed: 0 };
  const fridayNight = { days: ['fri' as const], from: '22:00', to: '07:00', reach };
  expect(periodAt([fridayNight], 'utc', Date.parse(`${local}:00Z`)) !== null).toBe(inside);
});

test('the very number comes before a magic ending, which comes before patterns, which come before the population', async () => {
  const greet = (greeting: string) => ({ greeting, mood: 'friendly' as const });
  const world: WorldInput = {
    people: [
      { number: '+12125550101', ...greet('By number.') },
      { starts_with: '+1212', ends_with: '142', ...greet('By pattern.') },
      { starts_with: '+1212', ...greet('Too late.') },
    ],
    population: [{ ...greet('One of many.'), reach: {} }],
  };
  const sandbox = await startTestSandbox({ world });
  expect((await call(sandbox, '+12125550101')).said[0].text).toBe('By number.');
  expect((await call(sandbox, '+13125550101')).truth.result).toBe('busy');
  expect((await call(sandbox, '+12125550102')).truth.result).toBe('no_answer');
  expect((await call(sandbox, '+12125550142')).said[0].text).toBe('By pattern.');
  expect((await call(sandbox, '+13125550142')).said[0].text).toBe('One of many.');
  expect((await sandbox.batch(['+12125550120'])).status).toBe(422);
});

test('the population is met by its weights, and a number is always the same person', async () => {
  const world: WorldInput = {
    population: [
      { weight: 3, greeting: 'Three.', reach: {} },
      { weight: 1, greeting: 'One.', reach: {} },
    ],
  };
  const sandbox = await startTestSandbox({ world, concurrency: 1_000 });
  const numbers = plainNumbers(200);
  const greetings = async (): Promise<string[]> => {
    await sandbox.batch(numbers);
    sandbox.clock.advance(hour);
    const records = sandbox.calls().slice(-numbers.length);
    return Promise.all(
      records.map(async ({ conversationId }) => {
        const body = await sandbox.read(`/v1/convai/conversations/${conversationId}`);
        return body.transcript[1].text;
      }),
    );
  };
  const first = await greetings();
  const share = first.filter((text) => text === 'Three.').length / first.length;
  expect(share).toBeGreaterThan(0.65);
  expect(share).toBeLessThan(0.85);
  expect(await greetings()).toEqual(first);
});

test('chances of reach are kept over many dials', async () => {
  const world: WorldInput = { population: [{ reach: { busy: 0.5, failed: 0.25 } }] };
  const sandbox = await startTestSandbox({ world, concurrency: 1_000 });
  await sandbox.batch(plainNumbers(400));
  sandbox.clock.advance(hour);
  const share = (result: string): number => sandbox.calls().filter((made) => made.result === result).length / 400;
  expect(share('busy')).toBeGreaterThan(0.42);
  expect(share('busy')).toBeLessThan(0.58);
  expect(share('failed')).toBeGreaterThan(0.18);
  expect(share('failed')).toBeLessThan(0.32);
  expect(share('busy') + share('failed') + share('answered')).toBeCloseTo(1);
});

test('the control plane tells and replaces the world; calls already made stay what they were', async () => {
  const sandbox = await startTestSandbox({ world: { people: [{ number: somebody, greeting: 'Before.' }] } });
  const before = await call(sandbox);
  const replaced = await sandbox.put('/_sandbox/world', { people: [{ number: somebody, greeting: 'After.' }] });
  expect(replaced.status).toBe(200);
  expect(await sandbox.read('/_sandbox/world')).toMatchObject({ version: 1, people: [{ greeting: 'After.' }] });
  const after = await call(sandbox);
  expect([before.said[0].text, after.said[0].text]).toEqual(['Before.', 'After.']);
  const body = await sandbox.read(`/v1/convai/conversations/${before.conversation_id}`);
  expect(body.transcript).toEqual(before.transcript);

  const refused = await sandbox.put('/_sandbox/world', { people: [{ number: somebody, mood: 'odd' }] });
  expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', 'people', 0, 'mood']]);
  const doubled = { people: [{ number: somebody }, { number: somebody }] };
  expect((await sandbox.put('/_sandbox/world', doubled)).status).toBe(422);
  expect((await call(sandbox)).said[0].text).toBe('After.');
  await sandbox.post('/_sandbox/reset');
  expect((await call(sandbox)).said[0].text).toBe('Before.');
});
