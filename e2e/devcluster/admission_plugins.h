/* The admission plugins that every cluster runs and that complete or refuse objects of the built-in kinds:
 * ServiceAccount, LimitRanger, Priority, DefaultTolerationSeconds, TaintNodesByCondition,
 * DefaultStorageClass, DefaultIngressClass, StorageObjectInUseProtection. */
#pragma once

#include "e2e/devcluster/request.h"

/* Completes a new object, between defaulting and validation; what is set here belongs to no field manager.
 * Fails the request when a plugin refuses it. */
int admission_complete(struct request *rq, json_t *doc);

/* ---- limit_ranger.c ---- */
/* Requests and limits of a pod's containers as its namespace's LimitRanges want them; claims are only
 * checked. */
int limit_ranger_admit(struct request *rq, json_t *doc);
