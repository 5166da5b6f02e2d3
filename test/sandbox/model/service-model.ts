/** What a caller may believe of the service, by the contract alone. */
export interface ServiceModel {
  /** In the order of creation. */
  agents: Map<string, ModelAgent>;
  deletedAgents: string[];
  numbers: Map<string, ModelNumber>;
  /** Their agents, in the order of the calls. */
  conversations: Map<string, string>;
  deletedConversations: string[];
  credentials: ModelCredential[];
  now: number;
}

export interface ModelAgent {
  name: string;
  tags: string[];
  config: Config;
  createdAt: number;
}

export interface ModelNumber {
  phoneNumber: string;
  label: string;
  agentId: string | null;
}

interface ModelCredential {
  secret: string;
  expiresAt: number;
  used: boolean;
}

export interface Config {
  [key: string]: ConfigValue;
}
type ConfigValue = Config | ConfigValue[] | string | number | boolean | null;

export function emptyModel(now: number): ServiceModel {
  return {
    agents: new Map(),
    deletedAgents: [],
    numbers: new Map(),
    conversations: new Map(),
    deletedConversations: [],
    credentials: [],
    now,
  };
}

/** The rules of the contract's table of agent fields; null when the settings may not be. */
export function settled(config: Config): Config | null {
  const tts = config['tts'] as Config | undefined;
  const llm = (config['agent'] as Config | undefined)?.['llm'] as Config | undefined;
  if (tts !== undefined && typeof tts['voice_id'] !== 'string') return null;
  const endpoint = (llm?.['custom_llm'] as Config | undefined)?.['url'];
  if (llm?.['model_id'] === 'custom' && typeof endpoint !== 'string') return null;
  const temperature = llm?.['temperature'];
  if (typeof temperature === 'number' && (temperature < 0 || temperature > 1)) return null;
  return tts === undefined ? config : { ...config, tts: { model_id: 'svc_flash_v2', ...tts } };
}

/** Only sent fields change, at any depth: null takes one out, an empty object changes nothing, all else is replaced. */
export function patched(before: Config, patch: Config): Config {
  const after = structuredClone(before);
  for (const [path, value] of leavesOf(patch)) set(after, path, value);
  return after;
}

function* leavesOf(patch: Config, path: string[] = []): Generator<[path: string[], value: ConfigValue]> {
  for (const [key, value] of Object.entries(patch)) {
    if (isObject(value)) yield* leavesOf(value, [...path, key]);
    else yield [[...path, key], value];
  }
}

function set(target: Config, path: string[], value: ConfigValue): void {
  const [key = '', ...rest] = path;
  const inner = target[key];
  if (rest.length === 0 && value === null) delete target[key];
  else if (rest.length === 0) target[key] = value;
  else if (isObject(inner)) set(inner, rest, value);
  else if (value !== null) {
    const made: Config = {};
    target[key] = made;
    set(made, rest, value);
  }
}

/** As it is shown: header values are secrets, and an object without fields is as good as none. */
export function shown(config: Config): Config {
  const visible: Config = {};
  for (const [key, value] of Object.entries(config)) {
    const inner = key === 'extra_headers' && isObject(value) ? masked(value) : isObject(value) ? shown(value) : value;
    if (!isObject(inner) || Object.keys(inner).length > 0) visible[key] = inner;
  }
  return visible;
}

function masked(headers: Config): Config {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, '[redacted]']));
}

function isObject(value: unknown): value is Config {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
