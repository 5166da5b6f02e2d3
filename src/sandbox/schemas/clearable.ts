import { z } from 'zod';

/** The schema of a change: every field, at every depth of objects, may be left out or be null. Lists are given whole. */
export function clearable(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return clearable(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodObject) {
    const shape = Object.entries<z.ZodType>(schema.shape);
    return schema.extend(Object.fromEntries(shape.map(([name, field]) => [name, clearable(field).nullish()])));
  }
  if (schema instanceof z.ZodRecord)
    return z.record(schema.keyType as z.ZodString, clearable(schema.valueType as z.ZodType).nullable());
  return schema;
}
