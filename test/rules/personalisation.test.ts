import { isMainThread } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { mapTexts, splitOpeningLine, withOpeningLine } from '../../src/rules/conversation-override.ts';
import { compileTemplates, maxRenderedChars, TemplateError, templateVariables } from '../../src/rules/personalisation.ts';

function renderLine(firstMessage: string, fields: Record<string, string>) {
  return compileTemplates({ firstMessage, variables: null }).render(fields);
}

function line(firstMessage: string) {
  return { ok: true, firstMessage, variables: null };
}

function missing(...names: string[]) {
  return { ok: false, missing: names, problem: null };
}

test.each<[string, Record<string, string>, object]>([
  ['Hello {{ name }}!', { name: 'Ana' }, line('Hello Ana!')],
  ['Hello {{ name }}!', {}, missing('name')],
  ['Hello {{ name }}!', { name: '' }, missing('name')],
  ['Hello {{ name }}!', { name: ' \t\u00a0' }, missing('name')],
  ['{{ a }} {{ b }} {{ a }} {{ c }}', { c: 'x' }, missing('a', 'b')],
  ['Hello {{ name | default: "there" }}!', { name: '' }, line('Hello there!')],
  ['Hello {{ name | default: "there" }}!', {}, line('Hello there!')],
  ['Hello {{ name | default: "there" }}!', { name: 'Ana' }, line('Hello Ana!')],
  ['Hello {{ name | strip | capitalize | default: "there" }}!', { name: '' }, line('Hello there!')],
  ['{% if x %}{{ name | upcase | default: "you" }}{% endif %}.', { x: '1' }, line('you.')],
  ['Hello {{ name | capitalize }}!', { name: '' }, missing('name')],
  ['Hello {{ name | default: other }}!', { name: '' }, missing('other')],
  ['{% if title %}{{ title }} {% endif %}{{ name }}', { title: '', name: 'Ana' }, line('Ana')],
  ['{% if title %}{{ name }}{% else %}you{% endif %}', { title: '', name: '' }, line('you')],
  ['{% if title %}{{ name }}{% else %}you{% endif %}', { title: 'Dr', name: '' }, missing('name')],
  ['{% unless vip == "yes" %}normal{% endunless %}', {}, line('normal')],
  ['{% case size %}{% when "1" %}one{% else %}many{% endcase %}', { size: '1' }, line('one')],
  ['{% assign who = name %}Hi {{ who }}', { name: 'Ana' }, line('Hi Ana')],
  ["Hi {{ ['First Name'] }}", { 'First Name': 'Ana' }, line('Hi Ana')],
  ['Hi {{ name }}', { name: '{{ secret }}' }, line('Hi {{ secret }}')],
  ['Hi {{ name }}', { name: '<b> & "q"' }, line('Hi <b> & "q"')],
  ['Hi {{ constructor }}', {}, missing('constructor')],
  ['Hi {{ name.constructor }}', { name: 'Ana' }, missing('name.constructor')],
  ['See you on {{ day | date: "%A, %B %-d" }}', { day: '2026-03-01' }, line('See you on Sunday, March 1')],
  ['At {{ day | date: "%H:%M" }}', { day: '2026-03-01 14:05' }, line('At 14:05')],
  ['At {{ day | date: "%H:%M" }}', { day: '2026-03-01T14:05:00+09:00' }, line('At 14:05')],
  ['At {{ day | date: "%H:%M" }}', { day: '0' }, line('At 00:00')],
  ['Plain', {}, line('Plain')],
  ['Size {{ size }}', { size: '', name: 'Ana' }, missing('size')],
  ['Size {{ size | upcase }}', { size: '', name: 'Ana' }, missing('size')],
  ['Size {{ size | default: "one" }}', { name: 'Ana' }, line('Size one')],
])('%j with %o renders', (template, fields, expected) => {
  expect(renderLine(template, fields)).toEqual(expected);
});

// Only the main thread can change its time zone; mutation testing runs tests in another one.
test.runIf(isMainThread)('dates are the same wherever the process runs', () => {
  const zone = process.env['TZ'];
  const template = '{{ a | date: "%Y-%m-%d %H:%M" }}, {{ b | date: "%Y-%m-%d %H:%M" }}, {{ c | date: "%Y-%m-%d %H:%M" }}';
  try {
    for (const place of ['UTC', 'America/Los_Angeles', 'Pacific/Auckland']) {
      process.env['TZ'] = place;
      expect(new Date(0).getTimezoneOffset() === 0).toBe(place === 'UTC');
      const row = renderLine(template, { a: '2026-03-01', b: '2026-03-01 14:05', c: '86400' });
      expect(row).toEqual(line('2026-03-01 00:00, 2026-03-01 14:05, 1970-01-02 00:00'));
    }
  } finally {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  }
});

test('rows read by a parser without prototype are rendered too', () => {
  const fields: Record<string, string> = Object.assign(Object.create(null), { name: 'Ana' });
  expect(renderLine('Hello {{ name }}', fields)).toEqual(line('Hello Ana'));
});

test('a cell named like a built-in is a cell', () => {
  const fields = JSON.parse('{"__proto__": "a", "constructor": "b", "toString": "c"}') as Record<string, string>;
  expect(renderLine('{{ __proto__ }}{{ constructor }}{{ toString }}', fields)).toEqual(line('abc'));
});

test('variables are rendered beside the opening line, and all that is missing is named once', () => {
  const personalisation = compileTemplates({
    firstMessage: 'Hello {{ name }}',
    variables: { key: 'variables', reference: 'ref', values: { when: '{{ date }} {{ name }}', clinic: 'Main Street' } },
  });
  expect(personalisation.columns).toEqual(['name', 'date']);
  expect(personalisation.render({ name: 'Ana', date: 'Monday' })).toEqual({
    ok: true,
    firstMessage: 'Hello Ana',
    variables: { when: 'Monday Ana', clinic: 'Main Street' },
  });
  expect(personalisation.render({})).toEqual(missing('name', 'date'));
  expect(personalisation.render({ name: 'Bo', date: 'Friday' })).toMatchObject({ firstMessage: 'Hello Bo' });
});

test('without templates there is nothing to render', () => {
  const empty = { ok: true, firstMessage: null, variables: null };
  expect(compileTemplates({ firstMessage: null, variables: null }).render({ name: '' })).toEqual(empty);
  const noValues = { firstMessage: null, variables: { key: 'variables', reference: null, values: {} } };
  expect(compileTemplates(noValues).render({})).toEqual({ ...empty, variables: {} });
});

test.each<[string, Record<string, string>, RegExp]>([
  ['{{ name }}', { name: 'x'.repeat(maxRenderedChars + 1) }, /^first_message: gives 10001 characters/],
  ['{{ name | default: " " }}', {}, /^first_message: gives an empty text$/],
  ['{% for i in (1..100000000) %}x{% endfor %}', {}, /^first_message: memory alloc limit exceeded/],
  ['{{ day | date: "%A" }}', { day: 'now' }, /^first_message: "now" is not a date of the list/],
  ['{{ "today" | date_to_string }}', {}, /^first_message: "today" is not a date of the list/],
])('%j cannot be rendered for a row, which is no error of the program', (template, fields, problem) => {
  const row = renderLine(template, fields);
  expect(row).toMatchObject({ ok: false, missing: [] });
  expect(row.ok ? '' : row.problem).toMatch(problem);
});

test('a text of exactly the longest length is rendered', () => {
  const name = 'x'.repeat(maxRenderedChars);
  expect(renderLine('{{ name }}', { name })).toEqual(line(name));
});

test.each<[string, RegExp, number, number]>([
  ['Hello {{ name', /not closed/, 1, 7],
  ['Hello\n {% if x %}', /not closed/, 2, 2],
  ['Hello {{ name | embolden }}', /undefined filter: embolden$/, 1, 7],
  ['{{ list | sample }}', /undefined filter: sample/, 1, 1],
  ['{{ name | upcas }}', /undefined filter: upcas; did you mean upcase\?$/, 1, 1],
  ['Hello {{ name | captialize }}', /; did you mean capitalize\?$/, 1, 7],
  ["{% include 'other' %}", /tag "include" not found/, 1, 1],
  ["{% render 'other' %}", /tag "render" not found/, 1, 1],
  ["{% layout 'other' %}", /tag "layout" not found/, 1, 1],
  ['{% increment n %}', /tag "increment" not found/, 1, 1],
  ['{% decrement n %}', /tag "decrement" not found/, 1, 1],
  ["{% block 'a' %}{% endblock %}", /tag "block" not found/, 1, 1],
  [`${'\n'.repeat(11)}${' '.repeat(12)}{{ a | embolden }}`, /: undefined filter: embolden$/, 12, 13],
])('%j is refused with its place', (template, problem, lineNumber, column) => {
  const compile = () => compileTemplates({ firstMessage: null, variables: { key: 'v', reference: null, values: { when: template } } });
  expect(compile).toThrow(TemplateError);
  try {
    compile();
  } catch (error) {
    expect(error).toMatchObject({
      cause: expect.any(Error),
      name: 'TemplateError',
      place: 'variables.when',
      line: lineNumber,
      column,
    });
    expect(String(error)).toMatch(problem);
    expect(String(error)).toMatch(`variables.when, line ${lineNumber}, column ${column}: `);
    expect(String(error)).not.toMatch(/line:\d/);
  }
});

test.each<[string, string[]]>([
  ['no variables', []],
  ['{{ a }} {{ b | default: c }} {{ a }}', ['a', 'b', 'c']],
  ['{% if a %}{% for x in (1..2) %}{{ x }}{{ b }}{% endfor %}{% endif %}', ['a', 'b']],
  ['{% assign who = name %}{{ who }}', ['name']],
  ["{{ ['First Name'] }}", ['First Name']],
])('%j reads the columns %o', (template, expected) => {
  expect(templateVariables(template).toSorted()).toEqual(expected.toSorted());
});

test('a template that cannot be parsed reads no columns', () => {
  expect(() => templateVariables('{{ a')).toThrow(TemplateError);
  expect(() => templateVariables('Hi {{ a | shout }}')).toThrow('template, line 1, column 4: undefined filter: shout');
});

test('a template that is too long is refused without a place in it', () => {
  const compile = () => compileTemplates({ firstMessage: 'x'.repeat(100_001), variables: null });
  expect(compile).toThrow(TemplateError);
  expect(compile).toThrow(/^first_message: parse length limit exceeded$/);
  expect(compile).toThrow(expect.objectContaining({ line: null, column: null }));
});

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
