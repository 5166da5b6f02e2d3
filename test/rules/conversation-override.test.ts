import { expect, test } from 'vitest';
import { mapTexts, splitOpeningLine, withOpeningLine } from '../../src/rules/conversation-override.ts';
import { compileTemplates } from '../../src/rules/personalisation.ts';

test('the opening line is taken out of the settings of a call, and put back', () => {
  const override = { agent: { first_message: 'Hello', llm: { temperature: 0.5 } }, tts: { voice_id: 'a' } };
  const { line, rest } = splitOpeningLine(override);
  expect({ line, rest }).toEqual({
    line: 'Hello',
    rest: { agent: { llm: { temperature: 0.5 } }, tts: { voice_id: 'a' } },
  });
  expect(withOpeningLine(rest, 'Hello')).toEqual(override);
  expect(splitOpeningLine({ agent: { first_message: 'Hello' } })).toEqual({ line: 'Hello', rest: null });
  expect(splitOpeningLine({ tts: { voice_id: 'a' } })).toEqual({ line: undefined, rest: { tts: { voice_id: 'a' } } });
  expect(withOpeningLine(null, null)).toBeNull();
  expect(withOpeningLine(null, 'Hello')).toEqual({ agent: { first_message: 'Hello' } });
});

test('every text at any depth is replaced, and nothing else', () => {
  const value = { a: ['x', 1, { b: 'y' }], c: null, d: true };
  expect(mapTexts(value, 'at', (text, path) => `${path}=${text}`)).toEqual({
    a: ['at.a[0]=x', 1, { b: 'at.a[2].b=y' }],
    c: null,
    d: true,
  });
});

test('settings of a call are filled in from the row, and an empty cell is an error of the row', () => {
  const override = { agent: { prompt: { prompt: 'You call {{ first_name }}.' }, llm: { temperature: 0.5 } } };
  const list = { columns: ['First Name', 'note'] } as never;
  const personalisation = compileTemplates({ firstMessage: null, variables: null, override, list });
  expect(personalisation.columns).toEqual(['First Name']);
  expect(personalisation.render({ 'First Name': 'Ana', note: '' })).toEqual({
    ok: true,
    firstMessage: null,
    variables: null,
    override: { agent: { prompt: { prompt: 'You call Ana.' }, llm: { temperature: 0.5 } } },
  });
  expect(personalisation.render({ 'First Name': ' ', note: '' })).toEqual({
    ok: false,
    missing: ['First Name'],
    problem: null,
  });
});

test('a prompt may be longer than an opening line', () => {
  const long = compileTemplates({
    firstMessage: null,
    variables: null,
    override: { agent: { prompt: { prompt: '{{ text }}' } } },
  });
  expect(long.render({ text: 'x'.repeat(20_000) })).toMatchObject({ ok: true });
  expect(long.render({ text: 'x'.repeat(100_001) })).toMatchObject({
    ok: false,
    problem: 'conversation_config_override.agent.prompt.prompt: gives 100001 characters; at most 100000 are allowed',
  });
});
