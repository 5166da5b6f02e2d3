import { testWeaves } from './weaves-suite.ts';

testWeaves('sqlite', { every: 359, seeds: 30 });
