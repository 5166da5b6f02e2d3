import { z } from 'zod';

export type Dialect = 'spec' | 'extended';

export interface SchemaMode {
  dialect: Dialect;
  /** Unknown keys pass instead of being refused. */
  loose: boolean;
}

/** An object that refuses unknown keys, or in loose mode lets them pass. */
export function objectOf<Shape extends z.ZodRawShape>(mode: SchemaMode, shape: Shape): z.ZodObject<Shape> {
  return mode.loose ? z.looseObject(shape) : z.strictObject(shape);
}

/** Fields that only the extended dialect knows; in `spec` they count as unknown. The type is that of the extended dialect. */
export function extendedOnly<Shape extends z.ZodRawShape>(
  { dialect }: Pick<SchemaMode, 'dialect'>,
  shape: Shape,
): Shape {
  return dialect === 'extended' ? shape : ({} as Shape);
}

export const e164 = z
  .string()
  .regex(
    /^\+[1-9]\d{6,14}$/,
    'Must be a phone number in E.164 format, such as +12125550100: a plus sign, then 7 to 15 digits.',
  );

export const identifier = z.string().min(1, 'Must not be empty.').max(200);

export const variableValues = z.record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()]));
