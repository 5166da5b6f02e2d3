/** A request body as it goes over the wire. */
export interface HostileBody {
  /** What was done to a body that is accepted. */
  what: string;
  text: string | Uint8Array;
  contentType?: string;
  /** Undefined where no JSON value could be accepted. */
  value?: unknown;
}

const emoji = '👩‍👩‍👧‍👦🇬🇧';
const rightToLeft = '\u202eשלום\u202c';

const hostileValues: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['empty text', ''],
  ['blank text', ' \n\t'],
  ['a long text', 'x'.repeat(20_000)],
  ['right to left', rightToLeft],
  ['emoji', emoji],
  ['a control character', 'a\u0000b\u001b[2J'],
  ['half a surrogate', '\ud800'],
  ['markup', '<script>alert(1)</script>'],
  ['a template', '{{constructor.constructor("return 1")()}}'],
  ['a path', '../../etc/passwd'],
  ['zero', 0],
  ['a negative number', -1],
  ['a fraction', 1.5],
  ['a number beyond all integers', 1e308],
  ['true', true],
  ['false', false],
  ['an empty list', []],
  ['a list in a list', [[[]]]],
  ['a list of null', [null]],
  ['an empty object', {}],
  ['a constructor', { constructor: { prototype: { polluted: true } } }],
  ['a method of all objects', { toString: 'x', hasOwnProperty: 1, valueOf: null }],
  ['a long list', Array.from({ length: 2_000 }, () => 'x')],
  ['an object with many fields', Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, index]))],
];

type Path = (string | number)[];

/** Each field replaced, left out, or joined by an unknown one. */
export function* bentBodies(valid: unknown): Generator<{ path: string; bodies: HostileBody[] }> {
  for (const path of pathsOf(valid)) {
    const replaced = hostileValues.map(([what, value]) => hostile(what, replacedAt(valid, path, value)));
    const more = path.length === 0 ? [] : [hostile('left out', replacedAt(valid, path, undefined))];
    const value = at(valid, path);
    const unknown = isObject(value) ? [hostile('an unknown key', replacedAt(valid, path, { ...value, surprise: 1 }))] : [];
    const text = JSON.stringify(replacedAt(valid, path, '@@'));
    const raw = [
      ['a number that is no number', '1e999'],
      ['a poisoned key', '{"__proto__":{"polluted":true}}'],
      ['a key twice', '{"a":1,"a":2}'],
      ['deep nesting', `${'['.repeat(3_000)}${']'.repeat(3_000)}`],
      ['deep objects', `${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`],
    ].map(([what = '', json = '']): HostileBody => ({ what, text: text.replace('"@@"', json) }));
    yield { path: path.join('.'), bodies: [...replaced, ...more, ...unknown, ...raw] };
  }
}

/** What is no JSON body at all, whatever the operation wants. */
export function brokenBodies(valid: unknown): HostileBody[] {
  const text = JSON.stringify(valid);
  const bytes = new TextEncoder().encode(text);
  const invalidUtf8 = Uint8Array.from([...bytes.slice(0, 2), 0xff, 0xfe, 0xc3, ...bytes.slice(2)]);
  return [
    ...[0.1, 0.5, 0.9].map((part) => ({ what: `cut off after ${part * 100} %`, text: text.slice(0, Math.ceil(text.length * part)) })),
    { what: 'nothing', text: '' },
    { what: 'a blank', text: ' ' },
    { what: 'two values', text: `${text}${text}` },
    { what: 'a comment', text: `/* a */${text}` },
    { what: 'single quotes', text: text.replaceAll('"', "'") },
    { what: 'a byte order mark and rubbish', text: '\ufeff{{' },
    { what: 'NaN', text: '{"name":NaN}' },
    { what: 'a form', text: 'name=A&tags=b', contentType: 'application/x-www-form-urlencoded' },
    { what: 'JSON that calls itself text', text, contentType: 'text/plain' },
    { what: 'JSON that calls itself XML', text, contentType: 'application/xml' },
    { what: 'a content type that is none', text, contentType: ';;;' },
    { what: 'parts of a form', text: '--x\r\n\r\n--x--', contentType: 'multipart/form-data; boundary=x' },
    { what: 'bytes that are no UTF-8 in a key', text: invalidUtf8 },
    { what: 'zeros', text: new Uint8Array(1_000) },
  ];
}

function hostile(what: string, value: unknown): HostileBody {
  const text = JSON.stringify(value);
  return { what, text, value: JSON.parse(text) as unknown };
}

function* pathsOf(value: unknown, path: Path = []): Generator<Path> {
  yield path;
  if (Array.isArray(value)) for (const [index, inner] of value.entries()) yield* pathsOf(inner, [...path, index]);
  else if (isObject(value)) for (const [key, inner] of Object.entries(value)) yield* pathsOf(inner, [...path, key]);
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], value);
}

/** Undefined takes it out. */
function replacedAt(value: unknown, path: Path, replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    return items.flatMap((item, index) => {
      if (index !== key) return [item];
      const put = replacedAt(item, rest, replacement);
      return put === undefined ? [] : [put];
    });
  }
  const object = value as Record<string, unknown>;
  return { ...object, [key]: replacedAt(object[key], rest, replacement) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
