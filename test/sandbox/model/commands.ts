import * as fc from 'fast-check';
import type { Disturbance, ModelledCaller } from './modelled-caller.ts';
import type { Config, ServiceModel } from './service-model.ts';

type Step = (caller: ModelledCaller) => Promise<void>;

class Command implements fc.AsyncCommand<object, ModelledCaller> {
  readonly #name: string;
  readonly #step: Step;

  constructor(name: string, step: Step) {
    this.#name = name;
    this.#step = step;
  }

  check(): boolean {
    return true;
  }

  run(_model: object, caller: ModelledCaller): Promise<void> {
    return this.#step(caller);
  }

  toString(): string {
    return this.#name;
  }
}

function command<T>(name: string, from: fc.Arbitrary<T>, step: (caller: ModelledCaller, value: T) => Promise<void>) {
  return from.map((value) => new Command(`${name} ${JSON.stringify(value)}`, (caller) => step(caller, value)));
}

const text = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('Zoë', 'שלום', '🙂', '{{name}}', '  '));
const name = text.filter((value) => value.length > 0);
const temperature = fc.constantFrom(0, 0.3, 0.5, 1);
const endpoint = fc.constant({ url: 'http://127.0.0.1:9/v1', extra_headers: { 'x-one': 'a' } });

/** Settings of which some break a rule of the contract: `tts` without a voice, `custom` without an endpoint. */
const settings: fc.Arbitrary<Config> = fc.record(
  {
    tts: fc.record({ voice_id: name, model_id: fc.constantFrom('svc_flash_v2', 'other') }, { requiredKeys: [] }),
    agent: fc.record(
      {
        first_message: text,
        prompt: fc.record({ prompt: text }, { requiredKeys: [] }),
        llm: fc.record({ model_id: fc.constant('custom'), custom_llm: endpoint, temperature }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Config>;

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 4, nil: null });

/** Parts of settings with a null here and there, and objects that hold nothing. */
const patch: fc.Arbitrary<Config> = fc.record(
  {
    tts: maybe(fc.record({ voice_id: maybe(name), model_id: maybe(name) }, { requiredKeys: [] })),
    agent: maybe(
      fc.record(
        {
          first_message: maybe(text),
          prompt: maybe(fc.record({ prompt: maybe(text) }, { requiredKeys: [] })),
          llm: maybe(
            fc.record(
              {
                model_id: maybe(fc.constant('custom')),
                custom_llm: maybe(
                  fc.record(
                    {
                      url: maybe(fc.constant('http://127.0.0.1:9/v2')),
                      extra_headers: maybe(
                        fc.dictionary(fc.constantFrom('x-one', 'x-two'), maybe(fc.constantFrom('a', 'b')), { noNullPrototype: true }),
                      ),
                    },
                    { requiredKeys: [] },
                  ),
                ),
                temperature: maybe(temperature),
              },
              { requiredKeys: [] },
            ),
          ),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Config>;

const nth = fc.nat(40);
const pageSize = fc.integer({ min: 1, max: 5 });
const disturbances = fc.array(fc.constantFrom<Disturbance>('add', 'delete oldest', 'delete newest', 'delete last seen'), { maxLength: 4 });
/** With those among them to whom something special happens. */
const callees = fc.array(
  fc.oneof(fc.integer({ min: 121, max: 180 }), fc.integer({ min: 100, max: 115 })).map((ending) => `+12125550${ending}`),
  { minLength: 1, maxLength: 4 },
);
const spans = fc.constantFrom(1, 999, 5_000, 60_000, 9 * 60_000, 3_600_000, 48 * 3_600_000);

const refusedAgents: unknown[] = [
  {},
  { name: '' },
  { name: 'A', colour: 'red' },
  { name: 'A', conversation_config: { tts: {} } },
  { name: 'A', conversation_config: { agent: { llm: { model_id: 'custom' } } } },
  { name: 'A', conversation_config: { agent: { llm: { temperature: 1.01 } } } },
  { name: 'A', conversation_config: { agent: { llm: { temperature: -0.01 } } } },
  { name: 'A', tags: 'one' },
];
const refusedCalls: unknown[] = [
  [],
  null,
  [{}],
  [{ to_phone_number: '2125550150' }],
  [{ to_phone_number: '+12125550150' }, { to_phone_number: 'no' }],
  [{ to_phone_number: '+12125550150', conversation_config_override: { agent: { llm: { temperature: 2 } } } }],
];

/** All that a caller may do: the 14 operations, waiting, and reading everything back. */
export const anyCommand: fc.Arbitrary<fc.AsyncCommand<object, ModelledCaller>>[] = [
  command(
    'create agent',
    fc.tuple(name, fc.option(fc.array(text, { maxLength: 2 })), fc.option(settings)),
    (caller, [named, tags, config]) => caller.createAgent(named, tags ?? undefined, config ?? undefined),
  ),
  command('create agent', name, (caller, named) => caller.createAgent(named, undefined, undefined)),
  command('refused agent', fc.constantFrom(...refusedAgents), (caller, body) => caller.refusedAgent(body)),
  command('list agents', fc.tuple(pageSize, disturbances), (caller, [size, more]) => caller.listAgents(size, more)),
  command('get agent', nth, (caller, place) => caller.getAgent(anyAgent(caller.model, place))),
  command('patch agent', fc.tuple(nth, patch), (caller, [place, change]) => caller.patchAgent(anyAgent(caller.model, place), change)),
  command('patch agent', fc.tuple(nth, patch), (caller, [place, change]) => caller.patchAgent(liveAgent(caller.model, place), change)),
  command('delete agent', nth, (caller, place) => caller.deleteAgent(anyAgent(caller.model, place))),
  command('get conversation', nth, (caller, place) => caller.getConversation(anyConversation(caller.model, place))),
  command('list conversations', fc.tuple(fc.option(nth), pageSize, disturbances), (caller, [place, size, more]) =>
    caller.listConversations(place === null ? null : anyAgent(caller.model, place), size, more),
  ),
  command('delete conversation', nth, (caller, place) => caller.deleteConversation(anyConversation(caller.model, place))),
  command('signed url', nth, (caller, place) => caller.credential('signed_url', liveAgent(caller.model, place))),
  command('token', nth, (caller, place) => caller.credential('token', anyAgent(caller.model, place))),
  command('redeem', nth, (caller, place) => caller.redeem(place)),
  command('list numbers', fc.constant(null), (caller) => caller.listNumbers()),
  command('import number', fc.tuple(fc.nat(5), name), (caller, [ending, label]) => caller.importNumber(`+1312555018${ending}`, label)),
  command('assign number', fc.tuple(nth, nth), (caller, [number, agent]) =>
    caller.assign(anyNumber(caller.model, number), liveAgent(caller.model, agent)),
  ),
  command('batch', fc.tuple(nth, nth, callees), (caller, [agent, number, numbers]) =>
    caller.batch(liveAgent(caller.model, agent), anyNumber(caller.model, number), numbers),
  ),
  command('batch', fc.tuple(nth, callees), (caller, [agent, numbers]) =>
    caller.batch(anyAgent(caller.model, agent), 'pn_nowhere', numbers),
  ),
  command('refused batch', fc.tuple(nth, fc.constantFrom(...refusedCalls)), (caller, [agent, calls]) =>
    caller.refusedBatch({ agent_id: liveAgent(caller.model, agent), from_phone_number_id: 'pn_nowhere', calls }),
  ),
  command('wait', spans, async (caller, ms) => caller.advance(ms)),
  command('read everything', fc.constant(null), (caller) => caller.readEverything()),
];

const nobody = 'nobody';

function anyAgent(model: ServiceModel, place: number): string {
  return pick([...model.agents.keys(), ...model.deletedAgents, nobody], place);
}

function liveAgent(model: ServiceModel, place: number): string {
  return pick([...model.agents.keys()], place);
}

function anyNumber(model: ServiceModel, place: number): string {
  return pick([...model.numbers.keys(), ...model.numbers.keys(), nobody], place);
}

function anyConversation(model: ServiceModel, place: number): string {
  return pick([...model.conversations.keys(), ...model.deletedConversations, nobody], place);
}

function pick(ids: string[], place: number): string {
  return ids[place % Math.max(1, ids.length)] ?? nobody;
}
