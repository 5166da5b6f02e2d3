const root = 'src/sandbox';

/** Folders of the sandbox from bottom to top, and what each may import; all names omit `src/sandbox/`. */
const rooms: Readonly<Record<string, string>> = {
  core: '',
  'core/clock': '',
  models: '',
  faults: 'core',
  schemas: 'core models',
  'core/world': 'core schemas',
  'core/state': 'core core/world schemas',
  'core/conversation': 'core core/state core/world models schemas',
  fixture: 'core core/state core/world faults schemas',
  judge: 'core core/clock core/state core/world',
  'core/telephony': 'core core/clock core/conversation core/state core/world schemas',
  'core/settings': 'core core/clock core/telephony core/world faults fixture judge schemas',
  'core/service': 'core core/clock core/conversation core/settings core/state core/telephony core/world faults fixture judge schemas',
  http: 'core core/service core/settings core/state faults judge schemas',
  openapi: 'core http schemas',
  control: 'core core/clock core/service core/state core/telephony core/world faults fixture http judge models openapi schemas',

  // One folder per API of the service; the service behind it is shared, and no folder above imports an API.
  'convai/records': 'core core/conversation core/state core/world models schemas',
  'convai/routes': 'convai/records core core/service core/state core/telephony faults http schemas',
  'convai/openapi': 'core core/settings openapi schemas',
  convai: 'convai/openapi convai/routes core/service http openapi',

  // Features: nothing above may import one of them.
  llm: 'core core/clock core/conversation core/service core/settings core/state http models schemas',
  persistence: 'core core/clock core/service core/settings core/state core/telephony core/world http schemas',
  audio: 'core core/conversation core/service core/state http schemas',
  live: 'audio core core/clock core/conversation core/service core/settings core/state core/telephony core/world http judge llm schemas',
  webhooks: 'audio convai/records convai/routes core core/conversation core/service core/state http schemas',
  page: 'audio control core core/clock core/conversation core/service core/state faults http judge schemas webhooks',
};

/** The sandbox is independent except for its page's markup; what starts it may import all of it. */
export const sandboxFloors: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    Object.entries(rooms).map(([room, list]) => [
      `${root}/${room}`,
      [
        ...list
          .split(/\s+/)
          .filter(Boolean)
          .map((name) => `${root}/${name}`),
        ...(room === 'page' ? ['src/presentation/html'] : []),
      ],
    ]),
  ),
  [root]: [`${root}/**`],
};
