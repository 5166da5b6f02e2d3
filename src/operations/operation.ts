/** What a token allows; each role includes the one before it. */
type Role = 'read' | 'operate' | 'admin';

export type Route = `${'GET' | 'POST' | 'DELETE'} /api/v1/${string}`;

/**
 * `read`: changes nothing. `change`: carries an Idempotency-Key, and is written to the log. `ask`: a POST without one, which changes
 * nothing. `download`: a read whose answer is handed on as it comes.
 */
export type Kind = 'read' | 'change' | 'ask' | 'download';

/** Something that a person can do: how it is asked for, who may, and what it does. */
export interface Operation<How extends Kind = Kind> {
  readonly kind: How;
  readonly route: Route;
  /** The least role that it takes. */
  readonly role: Role;
  /** What it does, as one sentence without a full stop. */
  readonly says: string;
  /** What to know besides, in whole sentences; may be empty. */
  readonly more: string;
  /** The heading under which the description of the API has it. */
  readonly tag: Tag;
}

/** The path of a route for these parameters. Throws TypeError for one that is missing. */
export function filledPath(route: Route, params: Readonly<Record<string, unknown>>): string {
  return route.replace(/^\w+ /, '').replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    if (!['string', 'number'].includes(typeof value) || value === '')
      throw new TypeError(`${route} needs ${name}; give it as text or number.`);
    return encodeURIComponent(String(value));
  });
}

/** Headings of the description of the API. */
export const tags = {
  campaigns: 'Campaigns as a whole.',
  rows: 'Rows of a list, and what was decided about them.',
  insight: 'What a campaign has come to.',
  events: 'The log, from a cursor on.',
  'do-not-call': 'Numbers that are not called.',
  schedules: 'Campaigns that recur.',
  webhooks: 'Other systems that are notified of events.',
  access: 'Who may use API and console.',
} as const;
type Tag = keyof typeof tags;

type Untagged<How extends Kind> = Omit<Operation<How>, 'tag'>;
const make =
  <How extends Kind>(kind: How) =>
  (route: Route, role: Role, says: string, more = ''): Untagged<How> => ({ kind, route, role, says, more });
/** One of its kind: route, role, sentence, and what to know besides. */
export const [read, change, ask, download] = [make('read'), make('change'), make('ask'), make('download')];

export const under = <Group extends Record<string, Untagged<Kind>>>(tag: Tag, group: Group) =>
  Object.fromEntries(Object.entries(group).map(([id, operation]) => [id, { ...operation, tag }])) as {
    readonly [Id in keyof Group]: Operation<Group[Id]['kind']>;
  };
