import type { PlatformSettings, CollectionItem } from '../../schemas/agent-schemas.ts';
import { collect, userTexts } from './collect.ts';
import type { CallCourse } from '../state/call.ts';
import type { Talk, Assessment, CollectedItem, Evaluated } from '../state/talk.ts';
import {
  asksToStop,
  contentWords,
  isNoAnswer,
  requestedLanguage,
  refusesToAnswer,
  saysGoodbye,
  saysWrongPerson,
  yesOrNo,
} from './hearing.ts';
import { kindOf } from './questions.ts';

/** Rules only: the same words give the same result, from any source. */
export function assess(platform: PlatformSettings, { turns, ...rest }: Talk): Assessment {
  const talk = { ...rest, turns: turns.filter(({ aside }) => aside !== true) };
  if (talk.turns.length === 0 || talk.brokeDown) return { collected: {}, evaluation: {} };
  const items = platform.data_collection ?? {};
  const collected = collect(items, talk.turns);
  const criteria = platform.evaluation?.criteria ?? [];
  return {
    collected,
    evaluation: Object.fromEntries(criteria.map((criterion) => [criterion.id, evaluate(criterion, { talk, items, collected })])),
  };
}

/** Scripted values replace computed ones; `later` values replace both once due. */
export function followScript(found: Assessment, { analysis, endedAt, brokeDown }: CallCourse, now: number): Assessment {
  if (analysis === undefined || brokeDown) return found;
  const { later } = analysis;
  const scripts = later !== undefined && now >= endedAt + later.after_minutes * 60_000 ? [analysis, later] : [analysis];
  const rationale = 'Scripted for this call.';
  const collected = scripts.flatMap((script) => Object.entries(script.collected ?? {}));
  const evaluation = scripts.flatMap((script) => Object.entries(script.evaluation ?? {}));
  return {
    collected: { ...found.collected, ...Object.fromEntries(collected.map(([id, value]) => [id, { value, rationale }])) },
    evaluation: { ...found.evaluation, ...Object.fromEntries(evaluation.map(([id, result]) => [id, { result, rationale }])) },
  };
}

type Criterion = NonNullable<NonNullable<PlatformSettings['evaluation']>['criteria']>[number];

export interface Evidence {
  talk: Talk;
  items: Record<string, CollectionItem>;
  collected: Record<string, CollectedItem>;
}

/** An opt-out or wrong person misses every goal; otherwise the items that share words with it must have values. */
export function evaluate(criterion: Criterion, { talk, items, collected }: Evidence): Evaluated {
  const texts = userTexts(talk.turns);
  if (texts.length < 2) return { result: 'unknown', rationale: 'Too little was said to tell.', score: null };
  if (texts.some(asksToStop)) return missed('The person asked not to be called again.');
  if (texts.some(saysWrongPerson)) return missed('Somebody else was reached.');
  const goal = `${criterion.name ?? ''} ${criterion.conversation_goal_prompt ?? ''}`;
  const points = relevantItems(goal, items);
  return points.length > 0 ? evaluateItems(points, goal, collected) : evaluateReaction(texts, talk);
}

function missed(rationale: string): Evaluated {
  return { result: 'failure', rationale, score: 0 };
}

const marked = /\b(?:mark|rating|score|number|grade|points)\b/i;

function relevantItems(goal: string, items: Record<string, CollectionItem>): [string, CollectionItem][] {
  const askedItems = Object.entries(items).filter(([id, item]) => kindOf(id, item) === 'asked');
  const words = new Set(contentWords(goal));
  const named = askedItems.filter(
    ([id, { description = '', type }]) =>
      (marked.test(goal) && type !== 'string' && type !== 'boolean') ||
      contentWords(`${id.replaceAll(/[_-]/g, ' ')} ${description}`).some((word) => words.has(word)),
  );
  return named.length > 0 ? named : askedItems;
}

/** Goals that only ask for an answer are also reached by a no. */
const answerOnlyGoal = /\b(?:said|says|told|tells|answered|answers|gave|gives|stated|known|asked|whether)\b/i;

function evaluateItems(points: [string, CollectionItem][], goal: string, collected: Record<string, CollectedItem>): Evaluated {
  const reached = points.filter(([id]) => {
    const value = collected[id]?.value ?? null;
    return value !== null && (value !== false || answerOnlyGoal.test(goal));
  });
  const score = Math.round((reached.length / points.length) * 100) / 100;
  const missing = points.filter((point) => !reached.includes(point)).map(([id]) => id);
  if (missing.length === 0)
    return { result: 'success', rationale: `${reached.map(([id]) => id).join(', ')}: as the goal wants it.`, score };
  return { result: 'failure', rationale: `${missing.join(', ')}: not as the goal wants it.`, score };
}

/** Without items to collect, the recipient's reaction decides. */
function evaluateReaction(texts: readonly string[], { terminationReason }: Talk): Evaluated {
  const answers = texts.slice(1).filter((text) => !isNoAnswer(text) && !saysGoodbye(text));
  if (texts.some((text) => requestedLanguage(text) !== null)) return missed('The person spoke a language that the agent does not.');
  if (answers.length === 0) return { result: 'unknown', rationale: 'The person answered nothing.', score: null };
  if (answers.every((text) => refusesToAnswer(text) || yesOrNo(text) === false) && !terminationReason.includes('end_call'))
    return missed('The person refused and hung up.');
  if (answers.some((text) => refusesToAnswer(text))) return missed('The person did not want to answer.');
  return { result: 'success', rationale: 'The person answered to the end.', score: 1 };
}
