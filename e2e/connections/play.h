/* Shared by scene.c (who and where) and play.c (what happens). */
#pragma once

#include "e2e/connections/scene.h"

#include <jansson.h>

void scene_check(struct scene *s, int code, const struct error *err, const char *what);
void scene_create(struct scene *s, struct kube_client *k, const struct kube_resource *r, const char *ns,
                  json_t *doc /* taken */);
void scene_start_agent(struct scene *s);
void scene_play(struct scene *s);
int bench_free_port(struct bench *b);
