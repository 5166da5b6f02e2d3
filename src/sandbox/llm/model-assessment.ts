import { parseJson } from '../core/json.ts';
import { z } from 'zod';
import type { ModelCaller } from './model-caller.ts';
import { ModelFailure } from './model-failure.ts';
import type { CollectionItem, PlatformSettings } from '../schemas/agent-schemas.ts';
import { assess } from '../core/conversation/assess.ts';
import { ownModelOf } from '../core/conversation/effective-llm.ts';
import type { Call } from '../core/state/call.ts';
import type { Talk, Turn, Assessment, CollectedValue } from '../core/state/talk.ts';

const scores = { success: 1, failure: 0, unknown: null } as const;
const longestAssessmentTokens = 2_048;
const longestRationale = 1_000;

const answerShape = z.looseObject({
  collected: z.record(z.string(), z.unknown()).catch({}),
  evaluation: z.record(z.string(), z.unknown()).catch({}),
});
const valueShape = z.looseObject({ value: z.unknown(), rationale: z.string().catch('') });
const verdictShape = z.looseObject({
  result: z.enum(['success', 'failure', 'unknown']),
  rationale: z.string().catch(''),
});

/**
 * Asks the agent's own model once what came of a finished conversation; null where it is not to be asked, or did not speak to the end. What
 * it leaves out or gets wrong is told by the rules.
 */
export async function assessByModel(caller: ModelCaller, call: Call, talk: Talk, signal: AbortSignal): Promise<Assessment | null> {
  const { agent, conversationId } = call;
  const model = ownModelOf(call);
  if (agent === null || model === null || talk.brokeDown || agent.platform.analysis?.model !== 'own') return null;
  const { platform } = agent;
  if (asksFor(platform).length + criteriaOf(platform).length === 0) return null;
  if (talk.turns.some(({ usage }) => usage?.fallback === true)) return null;
  const byRules = assess(platform, talk);
  try {
    const { completion } = await caller.ask(
      {
        url: model.url,
        headers: model.headers,
        firstTokenMs: Infinity,
        signal,
        body: {
          model: model.modelName,
          messages: [
            { role: 'system', content: instruction(platform) },
            { role: 'user', content: transcript(talk.turns) },
          ],
          temperature: 0,
          max_tokens: longestAssessmentTokens,
          stream: false,
          response_format: { type: 'json_object' },
        },
      },
      { conversationId, purpose: 'assessment' },
    );
    return merge(platform, byRules, completion.text);
  } catch (error) {
    if (error instanceof ModelFailure) return byRules;
    throw error;
  }
}

function instruction(platform: PlatformSettings): string {
  const items = asksFor(platform).map(([id, { type, description, enum: choices }]) => ({
    id,
    type,
    description,
    choices,
  }));
  const criteria = criteriaOf(platform).map(({ id, name, conversation_goal_prompt: goal }) => ({ id, name, goal }));
  return [
    'You read the transcript of a phone call and answer with one JSON object and nothing else.',
    'Its shape: {"collected": {"<id>": {"value": <value or null>, "rationale": "<why>"}}, "evaluation": {"<id>": {"result": "success" | "failure" | "unknown", "rationale": "<why>"}}}.',
    'A value is null when it was not said. It has the type that its item names, and is one of the choices where there are any.',
    `Items to collect: ${JSON.stringify(items)}`,
    `Criteria to evaluate: ${JSON.stringify(criteria)}`,
  ].join('\n');
}

function transcript(turns: readonly Turn[]): string {
  return turns.map(({ speaker, text }) => `${speaker}: ${text}`).join('\n');
}

function merge(platform: PlatformSettings, byRules: Assessment, text: string): Assessment {
  // Some models wrap what they were asked for in a fence or in words.
  const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  const answer = answerShape.safeParse(parseJson(json)).data;
  if (answer === undefined) return byRules;
  const collected = { ...byRules.collected };
  for (const [id, item] of asksFor(platform)) {
    const given = valueShape.safeParse(own(answer.collected, id)).data;
    if (given === undefined) continue;
    const value = fit(item, given.value);
    if (value !== undefined) collected[id] = { value, rationale: rationale(given.rationale) };
  }
  const evaluation = { ...byRules.evaluation };
  for (const { id } of criteriaOf(platform)) {
    const given = verdictShape.safeParse(own(answer.evaluation, id)).data;
    if (given !== undefined) evaluation[id] = { result: given.result, rationale: rationale(given.rationale), score: scores[given.result] };
  }
  return { collected, evaluation };
}

/** The value in the item's own type; undefined when it cannot be that. */
function fit({ type, enum: choices }: CollectionItem, value: unknown): CollectedValue | undefined {
  if (value === null) return null;
  if (choices !== undefined)
    return choices.find((choice) => typeof value === 'string' && choice.toLowerCase() === value.trim().toLowerCase());
  if (type === 'string') return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  if (type === 'boolean')
    return [true, false].find((each) => each === value || (typeof value === 'string' && `${each}` === value.toLowerCase()));
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
  return type === 'integer' && !Number.isInteger(number) ? undefined : number;
}

function rationale(given: string): string {
  return given === '' ? "The agent's model gave no reason." : given.slice(0, longestRationale);
}

function own(record: Record<string, unknown>, id: string): unknown {
  return Object.hasOwn(record, id) ? record[id] : undefined;
}

function asksFor(platform: PlatformSettings): [string, CollectionItem][] {
  return Object.entries(platform.data_collection ?? {});
}

function criteriaOf(platform: PlatformSettings) {
  return platform.evaluation?.criteria ?? [];
}
