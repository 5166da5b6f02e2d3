import { testWeaves } from './weaves-suite.ts';

testWeaves('sqlite', { every: 307, seeds: 20 });
