import { z } from 'zod';
import type { ModelCaller } from './model-caller.ts';
import { ModelFailure } from './model-failure.ts';
import type { CollectionItem, PlatformSettings } from '../schemas/agent-schemas.ts';
import { assess } from '../core/conversation/assess.ts';
import type { OwnModel } from '../core/conversation/model-settings.ts';
import type { Talk, Turn } from '../core/state/talk.ts';
import type { Assessment, CollectedValue } from '../core/state/assessment.ts';

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

/** Whether an agent wants its own model, instead of rules, to evaluate and to collect. */
export function assessesByModel(platform: PlatformSettings): boolean {
  return platform.analysis?.model === 'own' && (asksFor(platform).length > 0 || criteriaOf(platform).length > 0);
}

/** Asks the agent's own model once what came of a conversation. What it leaves out or gets wrong is told by the rules. */
export async function assessByModel(
  caller: ModelCaller,
  about: { conversationId: string; platform: PlatformSettings; model: OwnModel; signal: AbortSignal },
  talk: Talk,
): Promise<Assessment> {
  const { platform, model, conversationId, signal } = about;
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
  const items = asksFor(platform).map(([id, item]) => ({ id, ...pick(item) }));
  const criteria = criteriaOf(platform).map(({ id, name, conversation_goal_prompt: goal }) => ({ id, name, goal }));
  return [
    'You read the transcript of a phone call and answer with one JSON object and nothing else.',
    'Its shape: {"collected": {"<id>": {"value": <value or null>, "rationale": "<why>"}}, "evaluation": {"<id>": {"result": "success" | "failure" | "unknown", "rationale": "<why>"}}}.',
    'A value is null when it was not said. It has the type that its item names, and is one of the choices where there are any.',
    `Items to collect: ${JSON.stringify(items)}`,
    `Criteria to evaluate: ${JSON.stringify(criteria)}`,
  ].join('\n');
}

function pick({ type, description, enum: choices }: CollectionItem): Record<string, unknown> {
  return { type, description, choices };
}

function transcript(turns: readonly Turn[]): string {
  return turns.map(({ speaker, text }) => `${speaker}: ${text}`).join('\n');
}

function merge(platform: PlatformSettings, byRules: Assessment, text: string): Assessment {
  const answer = answerShape.safeParse(readJson(text)).data;
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
    if (given !== undefined)
      evaluation[id] = { result: given.result, rationale: rationale(given.rationale), score: scores[given.result] };
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
    return typeof value === 'string' ? { true: true, false: false }[value.toLowerCase()] : asBoolean(value);
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
  return type === 'integer' && !Number.isInteger(number) ? undefined : number;
}

function asBoolean(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

/** Some models wrap what they were asked for in a fence or in words. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  } catch {
    return undefined;
  }
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
