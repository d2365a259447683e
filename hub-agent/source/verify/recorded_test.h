/* What cosign itself wrote (2.6.5, of the Go module github.com/sigstore/cosign/v2), into a registry on this
 * machine that had one chart's manifest, whose digest is RECORDED_DIGEST:
 *
 *     cosign generate-key-pair
 *     cosign sign --yes --key cosign.key --tlog-upload=false --allow-http-registry \
 *             127.0.0.1:5599/charts/podinfo@$DIGEST
 *     cosign sign --yes --key cosign.key --tlog-upload=false --new-bundle-format --allow-http-registry \
 *             127.0.0.1:5599/charts/podinfo@$DIGEST
 *
 * The first made the tag sha256-44d6....sig, the second the tag sha256-44d6..., an index of what refers to
 * the manifest. Nobody has the private key any more. */
#pragma once

#define RECORDED_DIGEST "sha256:44d6486bfad1611a936aa3238507d12f65b4532d38a22db9ebc1e76863672352"

static const char recorded_key[] = "-----BEGIN PUBLIC KEY-----\n"
                                   "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAERg7x+0V3XttOn2VMFsmtZbdPta4d\n"
                                   "tmNbJmDxofOdZTCN4jHoo6Bl+9UOfEps0cluz4Er45N0TJVlcPzvNpxhxg==\n"
                                   "-----END PUBLIC KEY-----\n";

/* The layer's blob, and its annotation dev.cosignproject.cosign/signature. */
static const char recorded_payload[] =
        "{\"critical\":{\"identity\":{\"docker-reference\":\"127.0.0.1:5599/charts/podinfo\"},\"image\":{\"d"
        "ocker-manifest-digest\":\"sha256:44d6486bfad1611a936aa3238507d12f65b4532d38a22db9ebc1e7686"
        "3672352\"},\"type\":\"cosign container image signature\"},\"optional\":null}";
static const char recorded_signature[] =
        "MEUCIQDyx2PbF0cHiG965ZI2iJezQoeFVOpcBEtXLqGS3D4HSAIgAIR0lvLWObcVaTlwy4fE54Tl9gypI1Duu0x2"
        "E3dq2aM=";

/* The only layer of the manifest that refers to the chart's. */
static const char recorded_bundle[] =
        "{\"mediaType\":\"application/vnd.dev.sigstore.bundle.v0.3+json\", \"verificationMaterial\":{\"p"
        "ublicKey\":{\"hint\":\"EQbKFjP0casg22iduueEoJSEWBbMn5JdYkXaa7ImZCM=\"}}, \"dsseEnvelope\":{\"pay"
        "load\":\"eyJfdHlwZSI6Imh0dHBzOi8vaW4tdG90by5pby9TdGF0ZW1lbnQvdjEiLCAic3ViamVjdCI6W3siZGlnZ"
        "XN0Ijp7InNoYTI1NiI6IjQ0ZDY0ODZiZmFkMTYxMWE5MzZhYTMyMzg1MDdkMTJmNjViNDUzMmQzOGEyMmRiOWViY"
        "zFlNzY4NjM2NzIzNTIifX1dLCAicHJlZGljYXRlVHlwZSI6Imh0dHBzOi8vc2lnc3RvcmUuZGV2L2Nvc2lnbi9za"
        "WduL3YxIn0=\", \"payloadType\":\"application/vnd.in-toto+json\", \"signatures\":[{\"sig\":\"MEUCIQ"
        "DhwXHp2czdiwf08pnW97dhdDZukMFUfYHzU9vzAH6xUAIgBr/Dr9niBiftADCfwYqx1FZNcHb8gm9MS8sErSCy4u"
        "8=\"}]}}";
